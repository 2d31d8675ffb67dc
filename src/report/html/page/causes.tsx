import type { JSX } from 'preact';
import type { CauseMember, RootCause } from '../../root-causes.ts';
import { claimKey } from '../../claim-name.ts';
import { Copy } from './copy.tsx';
import { FailureView } from './failure.tsx';
import { plural } from './format.ts';
import { Opens } from './opens.tsx';
import { Visible, visibleText } from './visible.tsx';

const CLAIMS_NAMED = 4;
/** Characters of a sentence that stand on a card. */
const SHOWN = 130;

/** One card per cause: what broke and where at a glance; an example in full and the others when it is opened. */
export function Causes({ causes }: { readonly causes: readonly RootCause[] }): JSX.Element {
  return (
    <>
      <p class="lead">Failures of one law and code whose answers part in the same way are one cause. The most widespread comes first.</p>
      <ol class="causes">
        {causes.map((cause) => (
          <li key={cause.key} class="cause">
            <Cause cause={cause} />
          </li>
        ))}
      </ol>
    </>
  );
}

function Cause({ cause }: { readonly cause: RootCause }): JSX.Element {
  const { members, claims, routes, laws } = cause;
  const first = best(members);
  return (
    <>
      <Opens
        onPaper
        summary={
          <>
            <span class="title">
              <Visible text={cause.title} />
            </span>
            <span class="count">
              {plural(members.length, 'failure')} in {plural(claims.length, 'claim')}
            </span>
            <span class="saying">
              <Visible text={shortened(first.failure.text)} />
            </span>
            <span class="where">
              <Visible
                text={[...(laws.length > 1 ? [`breaks ${laws.join(', ')}`] : []), ...(claims.length === 1 ? claims : []), routes.join(', ')]
                  .filter((part) => part !== '')
                  .join(' · ')}
              />
            </span>
          </>
        }
      >
        {() => <CauseBody cause={cause} first={first} />}
      </Opens>
      <Copies failure={first.failure} />
    </>
  );
}

function CauseBody({ cause: { claims, members }, first }: { readonly cause: RootCause; readonly first: CauseMember }): JSX.Element {
  const more = claims.length - CLAIMS_NAMED;
  return (
    <>
      <p class="where">
        {claims.slice(0, CLAIMS_NAMED).map((key) => (
          <code key={key}>
            <Visible text={key} />
          </code>
        ))}
        {more > 0 && <>and {more} more</>}
      </p>
      <h3>{labelOf(first)}</h3>
      <blockquote>
        <Visible text={first.failure.text} lines />
      </blockquote>
      <FailureView failure={first.failure} />
      {members.length > 1 && (
        <Opens summary={`The other ${plural(members.length - 1, 'failure')}`} class="others">
          {() =>
            members
              .filter((one) => one !== first)
              .map((one, i) => (
                <Opens key={i} summary={labelOf(one)}>
                  {() => (
                    <>
                      <blockquote>
                        <Visible text={one.failure.text} lines />
                      </blockquote>
                      <Copies failure={one.failure} />
                      <FailureView failure={one.failure} />
                    </>
                  )}
                </Opens>
              ))
          }
        </Opens>
      )}
    </>
  );
}

/** Everything that repeating or reporting a failure needs. */
export function Copies({ failure }: { readonly failure: CauseMember['failure'] }): JSX.Element {
  const { replay, curl, fixture } = failure;
  return (
    <div class="copies">
      {replay !== undefined && <Copy label="replay command" text={replay} />}
      {curl !== undefined && <Copy label="curl" text={curl} />}
      {fixture !== undefined && <Copy label="fixture path" text={fixture} />}
    </div>
  );
}

function shortened(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > SHOWN ? `${line.slice(0, SHOWN - 1).toWellFormed()}…` : line;
}

/** The one that shows most, and among those the shortest. */
function best(members: readonly CauseMember[]): CauseMember {
  const worth = ({ failure }: CauseMember) => (failure.answers === undefined ? 0 : 2) + (failure.exchanges === undefined ? 0 : 1);
  const length = ({ failure }: CauseMember) => failure.answers?.[0]?.total ?? 0;
  return [...members].sort((a, b) => worth(b) - worth(a) || length(a) - length(b))[0] as CauseMember;
}

function labelOf({ claim, failure }: CauseMember): string {
  const key = claimKey(claim.suite, claim.id);
  return visibleText(failure.case === undefined ? key : `${failure.case.label} (${key})`);
}

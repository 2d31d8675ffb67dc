import type { JSX } from 'preact';
import type { JsonFailure } from '../../root-causes.ts';
import { Divergence } from './divergence.tsx';
import { Prompts } from './prompts.tsx';
import { Timeline } from './timeline.tsx';
import { Visible, visibleText } from './visible.tsx';

/** One failure, in pictures: which request, both answers, how they came, the prompt. */
export function FailureView({ failure }: { readonly failure: JsonFailure }): JSX.Element {
  const { case: c, answers, exchanges, prompts, sides, replay, curl, fixture } = failure;
  return (
    <div class="failure">
      <dl class="facts">
        {failure.law !== '' && <Fact name="law" value={failure.law} />}
        <Fact name="code" value={failure.code} />
        {failure.verdict !== undefined && failure.verdict !== failure.code && <Fact name="verdict" value={failure.verdict} />}
        {c !== undefined && <Fact name="case" value={c.label} />}
        {fixture !== undefined && <Fact name="fixture" value={fixture} />}
        {c !== undefined && c.prompt !== '' && <Fact name="prompt" value={c.prompt} />}
      </dl>
      {answers !== undefined ? <Divergence answers={answers} /> : sides !== undefined && <Sides sides={sides} />}
      {exchanges?.map((exchange) => (
        <Timeline key={exchange.name} exchange={exchange} />
      ))}
      {prompts !== undefined && <Prompts prompts={prompts} />}
      {replay !== undefined && <pre class="command">{visibleText(replay)}</pre>}
      {curl !== undefined && <pre class="command">{visibleText(curl)}</pre>}
    </div>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }): JSX.Element {
  return (
    <div>
      <dt>
        <Visible text={name} />
      </dt>
      <dd>
        <Visible text={value} />
      </dd>
    </div>
  );
}

/** A failure that was written down with excerpts alone. */
function Sides({ sides }: { readonly sides: NonNullable<JsonFailure['sides']> }): JSX.Element {
  return (
    <dl class="facts">
      {sides.map(({ name, text }) => (
        <Fact key={name} name={name} value={text} />
      ))}
    </dl>
  );
}

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { rootCauses } from '../../root-causes.ts';
import type { RunData } from '../page-data.ts';
import { Causes } from './causes.tsx';
import { Claims } from './claims.tsx';
import { Concurrency } from './concurrency.tsx';
import { Context } from './context.tsx';
import { History } from './history.tsx';
import { useKeys } from './keys.ts';
import { Matrix } from './matrix.tsx';
import { Sections } from './sections.tsx';
import { Survival } from './survival.tsx';
import { Verdict } from './verdict.tsx';

interface Part {
  readonly id: string;
  readonly title: string;
  readonly body: () => ComponentChildren;
  /** Below the first screen, and dear to draw. */
  readonly later?: true;
}

export function App({ data }: { readonly data: RunData }): JSX.Element {
  const { report, history } = data;
  const causes = useMemo(() => rootCauses(report.claims), [report]);
  const compared = useMemo(() => report.claims.flatMap((claim) => claim.cases ?? []), [report]);
  const followed = useMemo(() => compared.filter(({ tokens }) => tokens !== undefined), [compared]);
  const [painted, setPainted] = useState(false);
  useEffect(() => {
    // Behind the frame that shows the first screen.
    requestAnimationFrame(() => setTimeout(() => setPainted(true)));
  }, []);
  useKeys();
  const sections: readonly (Part | false)[] = [
    causes.length > 0 && { id: 'failed', title: 'What failed', body: () => <Causes causes={causes} /> },
    report.claims.length > 0 && { id: 'claims', title: 'Claims', body: () => <Claims claims={report.claims} /> },
    compared.length > 0 && { id: 'agreement', later: true, title: 'Agreement', body: () => <Matrix cases={compared} /> },
    followed.length > 0 && { id: 'position', later: true, title: 'Divergence by position', body: () => <Survival cases={followed} /> },
    compared.length > 0 && { id: 'company', later: true, title: 'Divergence by concurrency', body: () => <Concurrency cases={compared} /> },
    history.length > 1 && { id: 'history', later: true, title: 'History', body: () => <History runs={history} /> },
    { id: 'context', title: 'What was under test', body: () => <Context report={report} /> },
  ];
  return (
    <Sections
      head={<Verdict report={report} causes={causes} />}
      sections={sections.flatMap((one) => (one === false ? [] : [{ ...one, body: (painted || one.later === undefined) && one.body() }]))}
      foot={
        <>
          <kbd>j</kbd> <kbd>k</kbd> next and previous cause · <kbd>/</kbd> filter claims · <kbd>Enter</kbd> opens and closes · made by
          Lockstep from the JSON report, schema {report.schema}
        </>
      }
    />
  );
}

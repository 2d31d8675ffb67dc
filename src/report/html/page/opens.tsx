/** A <details> whose inside is made when it is first opened: ten thousand claims would take seconds otherwise. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface OpensProps {
  readonly summary: ComponentChildren;
  readonly class?: string;
  readonly id?: string;
  readonly open?: boolean;
  /** Whether it is open on paper, where nothing can be opened. */
  readonly onPaper?: boolean;
  readonly children: () => ComponentChildren;
}

export function Opens({ summary, open = false, onPaper = false, children, ...rest }: OpensProps): JSX.Element {
  const [made, setMade] = useState(open);
  const element = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (!onPaper) return;
    const onPrint = () => {
      setMade(true);
      if (element.current !== null) element.current.open = true;
    };
    addEventListener('beforeprint', onPrint);
    return () => removeEventListener('beforeprint', onPrint);
  }, [onPaper]);
  return (
    <details {...rest} ref={element} open={open} onToggle={(event) => event.currentTarget.open && setMade(true)}>
      <summary>{summary}</summary>
      {made && children()}
    </details>
  );
}

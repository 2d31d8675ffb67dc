import type { ComponentChildren, JSX, Ref } from 'preact';

/** What may be wider than the window; it can be scrolled by keyboard too. */
export function Scroll({
  label,
  children,
  box,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
  readonly box?: Ref<HTMLDivElement>;
}): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={label} {...(box === undefined ? {} : { ref: box })}>
      {children}
    </div>
  );
}

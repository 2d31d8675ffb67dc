/** What all pages have alike: a way past the head, a list of sections, the sections. */
import type { ComponentChildren, JSX } from 'preact';

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: ComponentChildren;
}

export function Sections(props: {
  readonly head: ComponentChildren;
  readonly sections: readonly Section[];
  readonly foot: ComponentChildren;
}): JSX.Element {
  const { head, sections, foot } = props;
  return (
    <>
      <a class="skip" href="#content">
        Skip to the report
      </a>
      {head}
      <nav aria-label="Sections">
        {sections.map(({ id, title }) => (
          <a key={id} href={`#${id}`}>
            {title}
          </a>
        ))}
      </nav>
      <main id="content" tabIndex={-1}>
        {sections.map(({ id, title, body }) => (
          <section key={id} id={id} aria-labelledby={`${id}-title`}>
            <h2 id={`${id}-title`}>{title}</h2>
            {body}
          </section>
        ))}
      </main>
      <footer>{foot}</footer>
    </>
  );
}

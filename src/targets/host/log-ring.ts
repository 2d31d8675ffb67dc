/** The last lines a process wrote, oldest first. */
export class LogRing {
  readonly #lines: string[] = [];
  readonly #capacity: number;

  constructor(capacity = 400) {
    this.#capacity = capacity;
  }

  /** A sink for one stream: cuts lines at newlines, whatever the chunk borders. */
  sink(): (chunk: string) => void {
    let rest = '';
    return (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.trim() !== '') this.#lines.push(line);
      if (this.#lines.length > this.#capacity) this.#lines.splice(0, this.#lines.length - this.#capacity);
    };
  }

  lines(): readonly string[] {
    return [...this.#lines];
  }

  /** For an error's context; without the drawn tables of options and models, and what stubs say when their server is dead already. */
  tail(count = 15): string {
    return this.#lines
      .filter((line) => !/^[+|]|Non-graceful termination detected/.test(line))
      .slice(-count)
      .join('\n');
  }
}

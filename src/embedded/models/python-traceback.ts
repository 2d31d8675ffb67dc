/** An exception of Python as a model raises it: the qualified name of its class, and its text. */
export class PythonError extends Error {
  readonly type: string;
  constructor(type: string, text: string) {
    super(text);
    this.type = type;
  }
}

/** `traceback.format_exc()` for an exception raised below `execute` of a model: ends with `<type>: <text>\n`. */
export function pythonTraceback(thrown: unknown, directory: string): string {
  const { type, message } = thrown instanceof PythonError ? thrown : { type: 'RuntimeError', message: String(thrown) };
  return `Traceback (most recent call last):\n  File "${directory}/1/model.py", line 1, in execute\n${type}: ${message}\n`;
}

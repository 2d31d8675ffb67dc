/** The Python that a real tritonserver's Python backend links with; a failure only where target process is asked for. */
import { LockstepError } from '#core/errors/index.ts';
import { findPython } from '#targets/process/python.ts';
import { serverTable } from '#targets/process/releases.ts';
import type { Examination } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

export const examinePython: Examination = async ({ settings, signal }) => {
  if (settings.target === 'external' || settings.target === 'openai') return [];
  const pin = serverTable();
  const what = `python ${pin.python}`;
  try {
    const found = await findPython(pin.python, pin.libpython, signal);
    return [ok(what, `${found.version} with ${pin.libpython}, for target process`)];
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    const text = `${error.message.replace(/^\[[^\]]*\] /, '')}`;
    const next = error.hint ?? 'Only target process needs it.';
    return [settings.target === 'process' ? fail(what, text, next) : warn(what, `${text}; only target process needs it`, next)];
  }
};

import { withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { askHttp } from './ask-http.ts';

export interface ModelState {
  readonly name: string;
  readonly state?: string;
  readonly reason?: string;
}

const ASK_WITHIN_MS = 10_000;

/** Models of the repository with their states, as the server tells them. Errors: `unexpected-reply`, `deadline`. */
export async function repositoryIndex(http: string, ms = ASK_WITHIN_MS): Promise<readonly ModelState[]> {
  const url = `http://${http}/v2/repository/index`;
  const answer = await withDeadline({ ms, what: 'the list of models' }, (signal) => askHttp(url, 'POST', signal));
  if (answer.status === 200) return JSON.parse(answer.body) as readonly ModelState[];
  throw new LockstepError('unexpected-reply', `the list of models was answered with status ${answer.status}`, {
    hint: 'The server log says why; `lockstep doctor` checks what it was built from.',
  });
}

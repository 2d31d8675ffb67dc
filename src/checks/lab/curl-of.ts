import { curlOf } from '#checks/routes/curl.ts';
import type { Case } from '#core/request/index.ts';
import type { Lab } from './lab.ts';

/**
 * The curl line of a case. A server that this run started is gone when the line is read, so it speaks to the ports on
 * which Triton, and `lockstep serve`, listen by default.
 */
export function curlFor(lab: Lab, c: Case): string | undefined {
  const { endpoints, owned } = lab.parts;
  const own = endpoints.http.startsWith('https://') ? endpoints.http : `http://${endpoints.http}`;
  return curlOf(c, lab, {
    http: owned || endpoints.http === '' ? 'http://localhost:8000' : own,
    openai: owned || endpoints.openai === undefined ? 'http://localhost:9000' : endpoints.openai.replace(/\/$/, ''),
  });
}

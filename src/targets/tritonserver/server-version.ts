import { withDeadline } from '#core/deadline/index.ts';
import { UNKNOWN } from '#core/identity/index.ts';
import { askHttp } from './ask-http.ts';

/** What a server of this run says of itself at GET /v2; "unknown" where it does not. @param http host:port */
export async function serverVersion(http: string): Promise<string> {
  try {
    const answer = await withDeadline({ ms: 5_000, what: 'the server to say its version' }, (signal) =>
      askHttp(`http://${http}/v2`, 'GET', signal),
    );
    return (JSON.parse(answer.body) as { readonly version?: string }).version ?? UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

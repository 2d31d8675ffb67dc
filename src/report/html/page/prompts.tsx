import type { JSX } from 'preact';
import type { JsonFailure } from '../../root-causes.ts';
import { Scroll } from './scroll.tsx';
import { Visible } from './visible.tsx';

type Prompt = NonNullable<JsonFailure['prompts']>[number];

/** The prompt as tokens; where the engine got another one, both, token under token, with the first difference marked. */
export function Prompts({ prompts }: { readonly prompts: readonly Prompt[] }): JSX.Element {
  const [first, second] = prompts;
  const at = first === undefined || second === undefined ? -1 : parted(first.ids, second.ids);
  const columns = Array.from({ length: Math.max(...prompts.map(({ ids }) => ids.length)) }, (_, i) => i);
  return (
    <figure class="divergence prompts">
      <figcaption>{at < 0 ? 'The prompt, as the tokenizer makes it' : `The prompts part at token ${at}`}</figcaption>
      <Scroll label="The prompt, token by token">
        <table>
          <tbody>
            {prompts.map(({ name, ids, tokens, total }) => (
              <tr key={name} class="pieces">
                <th scope="row">
                  <Visible text={prompts.length === 1 ? 'prompt' : name} />
                  <small>{total} tokens</small>
                </th>
                {columns.map((i) => (
                  <td key={i} class={i === at ? 'parted' : ''}>
                    {tokens[i] !== undefined && (
                      <>
                        <span class="piece">
                          <Visible text={tokens[i]} edges />
                        </span>
                        <small>{ids[i]}</small>
                      </>
                    )}
                  </td>
                ))}
                {total > ids.length && <td>… {total - ids.length} more</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </figure>
  );
}

function parted(a: readonly number[], b: readonly number[]): number {
  const most = Math.max(a.length, b.length);
  for (let i = 0; i < most; i++) if (a[i] !== b[i]) return i;
  return -1;
}

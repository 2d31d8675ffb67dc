/**
 * Arguments of a server as they may be shown: those that restrict an API carry its key, as `--grpc-restricted-protocol=<apis>:<key>=<value>`
 * of tritonserver, or as the words behind `--openai-restricted-api` of NVIDIA's OpenAI front end.
 */
export function shownArguments(args: readonly string[]): string[] {
  let hiding = false;
  return args.map((argument) => {
    if (argument.startsWith('-')) {
      const restricts = argument.includes('restricted');
      hiding = restricts && !argument.includes('=');
      return restricts && !hiding ? `${argument.split('=', 1)[0]!}=…` : argument;
    }
    return hiding ? '…' : argument;
  });
}

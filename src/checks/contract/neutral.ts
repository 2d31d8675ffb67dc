/**
 * Takes out of a text what only names this one server: its version, its addresses, and where its models lie. Everything else that
 * is not the same twice is found by asking twice (observe.ts).
 */
export function neutralFor(of: { readonly version: string; readonly addresses: readonly string[] }): (text: string) => string {
  const ports = of.addresses.filter((address) => address !== '');
  return (text) => {
    let out = text;
    for (const address of ports) out = out.replaceAll(address, '<address>');
    if (of.version !== '') out = out.replaceAll(of.version, '<version>');
    return (
      out
        .replaceAll(/(?:\/[\w.@+-]+)+\/(\w+)\/(\d+)\/([\w/]+\.py)/g, '<repository>/$1/$2/$3')
        // TensorRT-LLM counts the requests of an engine.
        .replaceAll(/(?<=requestId )\d+/g, '<n>')
        .replaceAll(/lockstep_\d+_[\w]*/g, '<shared memory>')
    );
  };
}

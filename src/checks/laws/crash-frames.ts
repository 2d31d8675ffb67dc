/**
 * Whose code ran when a tritonserver died of signal 11, by the stack that it prints with its last words: `server` for its own program
 * (the gRPC and HTTP front ends, and the libraries that are linked into it), else the name of the library, from the frame that printed
 * to the start of the thread. Empty where no such stack was printed.
 */
export function crashFrames(words: string): readonly string[] {
  if (!/^Signal \(11\) received/m.test(words)) return [];
  const frames = new Map<number, string>();
  // Two threads may print at once, and then a line stands twice.
  for (const [, number, file] of words.matchAll(/^\s*(\d+)# 0x[0-9A-Fa-f]+ in (\S+)/gm)) frames.set(Number(number), moduleOf(file!));
  return [...frames].toSorted(([a], [b]) => a - b).map(([, name]) => name);
}

function moduleOf(file: string): string {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return name.startsWith('tritonserver') ? 'server' : name.replace(/\.so.*$/, '');
}

/** One Prometheus family. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly samples: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

/** Prometheus text: HELP and TYPE, then one line per series, labels in alphabetical order as prometheus-cpp prints them. */
export function familyText(family: Family): string {
  const lines = family.samples.map(({ labels, value }) => {
    const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
    const text = pairs.map(([k, v]) => `${k}="${v.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"')}"`).join(',');
    return `${family.name}${text === '' ? '' : `{${text}}`} ${value}\n`;
  });
  return `# HELP ${family.name} ${family.help}\n# TYPE ${family.name} ${family.type}\n${lines.join('')}`;
}

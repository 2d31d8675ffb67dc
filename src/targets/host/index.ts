/** This host: its processes and who owns what they made, commands, free ports, what a process said last, GPUs. */
export { hostFacts } from './facts.ts';
export { type LastWords, type Writer, keepLastWords, lastWordsFile, lastWordsPath, readLastWords } from './last-words.ts';
export { LogRing } from './log-ring.ts';
export { DETACHED, ownerState, thisOwner } from './owner.ts';
export { freePorts } from './ports.ts';
export { type ProcessRow, findDescendants, findLiving, isLiving, killRow, readProcess } from './process-table.ts';
export { type CommandOptions, onPath, runCommand } from './run-command.ts';

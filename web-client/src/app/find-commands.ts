/** A command of the palette. */
export interface Command {
  readonly id: string;
  /** Words by which it is found. */
  readonly label: string;
  /** The kind of the command, shown beside its name. */
  readonly kind: string;
  readonly run: () => void;
}

/** The commands whose name or kind contains every word, in any case. */
export function fittingCommands(commands: readonly Command[], sought: string): readonly Command[] {
  const words = sought
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return commands;
  return commands.filter(({ label, kind }) => {
    const text = `${label}\n${kind}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Something that the palette does. */
export interface Command {
  readonly id: string;
  /** The words that find it. */
  readonly label: string;
  /** The kind of thing that it is, beside its name. */
  readonly kind: string;
  readonly run: () => void;
}

/** Those whose name or kind holds every word, in any case. */
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

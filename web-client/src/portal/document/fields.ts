export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text that is not empty, cut where it is too long. */
export function textOf(value: unknown, lengthMax: number): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value.length <= lengthMax ? value : `${value.slice(0, lengthMax)}…`;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

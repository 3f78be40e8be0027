/** A number that a workload has: its meaning, its range, and its default. */
export interface Field {
  readonly help: string;
  readonly least: number;
  readonly most: number;
  readonly preset?: number;
  readonly isWhole?: boolean;
}

export type FieldsOf<T> = { readonly [K in keyof T]: Field };

/** A workload that cannot be simulated; the message names the field and its allowed values. */
export class SimulationError extends Error {
  override readonly name = 'SimulationError';
}

/**
 * Reads the numbers of a workload. A field that is not given has its default, or none.
 *
 * @throws {SimulationError} for a field that is unknown or out of its range
 */
export function numbersFrom<T>(
  fields: FieldsOf<T>,
  given: unknown,
  example: string,
): { readonly [K in keyof T]?: number } {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new SimulationError(`A workload is an object, as ${example}`);
  }
  const numbers: Readonly<Record<string, unknown>> = { ...given };
  const names = Object.keys(fields) as (keyof T & string)[];
  for (const name of Object.keys(numbers)) {
    if (!Object.hasOwn(fields, name)) {
      throw new SimulationError(`"${name}" is no field of a workload. There are ${names.join(', ')}`);
    }
  }
  return Object.fromEntries(names.map((name) => [name, numberFrom(name, fields[name], numbers[name])])) as {
    [K in keyof T]?: number;
  };
}

function numberFrom(name: string, field: Field, value: unknown): number | undefined {
  const { least, most, preset, isWhole = false } = field;
  if (value === undefined || value === null) return preset;
  const isFit = typeof value === 'number' && value >= least && value <= most;
  if (isFit && (!isWhole || Number.isInteger(value))) return value;
  const kind = isWhole ? 'a whole number' : 'a number';
  throw new SimulationError(
    `"${name}" is ${kind} from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}, not ${JSON.stringify(value)}`,
  );
}

import { constraintError, serializationError, validationError } from './errors.ts';

const TABLE_NAME = /^[a-zA-Z0-9_.-]+$/;
const TABLE_NAME_CHARACTERS_MAX = 255;

/** The members of a request, or of a structure in it, read strictly. */
export class Parameters {
  readonly #sent: Readonly<Record<string, unknown>>;

  constructor(sent: unknown) {
    if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
      throw serializationError('Start of structure or map found where not expected');
    }
    this.#sent = { ...sent };
  }

  /**
   * Unknown parameters would silently have no effect: legacy ones that expressions have replaced, indexes, and others
   * that are not emulated.
   */
  refuseBeyond(names: readonly string[]): void {
    for (const [name, value] of Object.entries(this.#sent)) {
      if (names.includes(name) || value === undefined || value === null) continue;
      throw validationError(`The emulator does not know the parameter ${name}`);
    }
  }

  text(name: string): string | undefined {
    const value = this.#get(name);
    if (value === undefined || typeof value === 'string') return value;
    throw serializationError(`${String(value).toUpperCase()} cannot be converted to String`);
  }

  boolean(name: string): boolean {
    const value = this.#get(name) ?? false;
    if (typeof value === 'boolean') return value;
    throw serializationError(`${String(value).toUpperCase()} cannot be converted to Boolean`);
  }

  isTrueUnlessSent(name: string): boolean {
    return this.#get(name) === undefined || this.boolean(name);
  }

  integer(name: string, minimum: number, maximum: number): number | undefined {
    const value = this.#get(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'number') {
      throw serializationError(`${String(value).toUpperCase()} cannot be converted to Integer`);
    }
    if (value < minimum) {
      throw constraintError(
        value,
        memberName(name),
        `Member must have value greater than or equal to ${minimum}`,
      );
    }
    if (value > maximum) {
      throw constraintError(
        value,
        memberName(name),
        `Member must have value less than or equal to ${maximum}`,
      );
    }
    return Math.floor(value);
  }

  /** One of `allowed`; the first where nothing was sent. */
  oneOf<const T extends string>(name: string, allowed: readonly [T, ...T[]]): T {
    const value = this.text(name);
    if (value === undefined) return allowed[0];
    const found = allowed.find((each) => each === value);
    if (found !== undefined) return found;
    throw constraintError(
      value,
      memberName(name),
      `Member must satisfy enum value set: [${allowed.join(', ')}]`,
    );
  }

  map(name: string): Readonly<Record<string, unknown>> | undefined {
    const value = this.#get(name);
    if (value === undefined) return undefined;
    if (typeof value === 'object' && !Array.isArray(value)) return { ...value };
    throw serializationError('Unexpected field type');
  }

  requiredMap(name: string): Readonly<Record<string, unknown>> {
    const map = this.map(name);
    if (map === undefined) throw missing(name);
    return map;
  }

  list(name: string): readonly unknown[] {
    const value = this.#get(name);
    if (value === undefined) throw missing(name);
    if (Array.isArray(value)) return value;
    throw serializationError('Unexpected field type');
  }

  tableName(): string {
    const name = this.text('TableName');
    if (name === undefined) throw missing('TableName');
    checkTableName(name);
    return name;
  }

  #get(name: string): unknown {
    return this.#sent[name] ?? undefined;
  }
}

export function checkTableName(name: string): void {
  if (name.length === 0 || name.length > TABLE_NAME_CHARACTERS_MAX) {
    throw constraintError(
      name,
      'tableName',
      `Member must have length ${
        name.length === 0
          ? 'greater than or equal to 1'
          : `less than or equal to ${TABLE_NAME_CHARACTERS_MAX}`
      }`,
    );
  }
  if (TABLE_NAME.test(name)) return;
  throw constraintError(name, 'tableName', 'Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+');
}

function missing(name: string) {
  return constraintError(undefined, memberName(name), 'Member must not be null');
}

/** Members are named in lower camel case in messages. */
function memberName(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

import { BEGINNINGS, saysWhereToBegin } from '../../engine/stream-reading.ts';
import type { UserProperties } from '../../engine/types.ts';

/** Where a subscription begins in the history of its topics. */
export type BeginningKind =
  /** No beginning: a plain subscription, or the broker's default for `$stream/NAME`. */
  | 'none'
  | 'now'
  /** The last messages of each topic. */
  | 'count'
  /** Those of the last seconds, minutes, hours or days. */
  | 'span'
  | 'earliest'
  | 'time'
  | 'position';

export const BEGINNING_KINDS = ['none', 'now', 'count', 'span', 'earliest', 'time', 'position'] as const;

export interface Beginning {
  readonly kind: BeginningKind;
  /** The value of the user property, in the broker's form; positions are on separate lines. */
  readonly value: string;
}

/** The initial value of a kind in the dialog; '' if it takes none, or has no default. */
export const USUAL_VALUES: Readonly<Record<BeginningKind, string>> = {
  none: '',
  now: '',
  count: '50',
  span: '10m',
  earliest: '',
  time: '',
  position: '',
};

const FORMS: Readonly<Partial<Record<BeginningKind, RegExp>>> = {
  count: /^\d{1,15}$/,
  span: /^\d{1,15}[smhd]$/,
  time: /^\d{1,16}$|^\d{4}-\d\d-\d\dT.+$/,
  position: /^[0-9a-z]+-\d+(-\d+)?( .+)?(\n[0-9a-z]+-\d+(-\d+)? .+)*$/,
};

/** Whether the broker can read the value. */
export function isBeginningValid({ kind, value }: Beginning): boolean {
  return FORMS[kind]?.test(value.trim()) ?? true;
}

/** The beginning in the user properties of a subscription: of several, the first in `BEGINNINGS` counts. */
export function beginningOf(userProperties: UserProperties): Beginning {
  for (const name of BEGINNINGS) {
    const values = userProperties.filter(([given]) => given === name).map(([, value]) => value);
    const value = values.join('\n');
    if (values.length === 0) continue;
    if (name === 'stream-position') return { kind: 'position', value };
    if (name === 'rewind') return { kind: /\D$/.test(value) ? 'span' : 'count', value };
    if (value === 'latest') return { kind: 'now', value: '' };
    return value === 'earliest' ? { kind: 'earliest', value: '' } : { kind: 'time', value };
  }
  return { kind: 'none', value: '' };
}

/** The same user properties with another beginning. */
export function withBeginning(userProperties: UserProperties, { kind, value }: Beginning): UserProperties {
  return [...otherProperties(userProperties), ...propertiesOf(kind, value.trim())];
}

/** All without the beginning. */
export function otherProperties(userProperties: UserProperties): UserProperties {
  return userProperties.filter(([name]) => !saysWhereToBegin(name));
}

function propertiesOf(kind: BeginningKind, value: string): UserProperties {
  switch (kind) {
    case 'none':
      return [];
    case 'now':
      return [['stream-offset', 'latest']];
    case 'earliest':
      return [['stream-offset', 'earliest']];
    case 'time':
      return [['stream-offset', value]];
    case 'position':
      return value.split('\n').map((line) => ['stream-position', line.trim()] as const);
    default:
      return [['rewind', value]];
  }
}

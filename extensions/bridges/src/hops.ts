import type { UserProperties } from '@apus/mqtt';

/** The user property, or header, with the number of bridges that a message has crossed. */
export const HOPS_PROPERTY = 'apus-bridge-hops';

/** The user property with the name of the bridge that sent a message to a broker without "no local". */
const FROM_PROPERTY = 'apus-bridge-from';

/** The user properties of a message that this bridge sends. */
export function withFrom(properties: UserProperties, clientId: string): UserProperties {
  return [...properties.filter(([name]) => name !== FROM_PROPERTY), [FROM_PROPERTY, clientId]];
}

export function isFrom(properties: UserProperties = [], clientId: string): boolean {
  return properties.some(([name, value]) => name === FROM_PROPERTY && value === clientId);
}

/** 0 for a message that has crossed no bridge, or whose property is no number. */
export function hopsOf(properties: UserProperties = []): number {
  const [, value = ''] = properties.find(([name]) => name === HOPS_PROPERTY) ?? [];
  return /^\d{1,3}$/.test(value) ? Number(value) : 0;
}

/** The properties with one more hop; undefined if the message goes no further. */
export function withHop(properties: UserProperties = [], hopsMax: number): UserProperties | undefined {
  const hops = hopsOf(properties);
  if (hops >= hopsMax) return undefined;
  const others = properties.filter(([name]) => name !== HOPS_PROPERTY);
  return [...others, [HOPS_PROPERTY, String(hops + 1)]];
}

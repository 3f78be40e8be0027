import type { ConnectionProfile, Subscription } from './types.ts';

/** The colours that subscriptions take in turn: keys of the theme. */
export const COLORS = [
  'blue',
  'teal',
  'grape',
  'orange',
  'pink',
  'lime',
  'cyan',
  'red',
  'violet',
  'yellow',
] as const;

/** The defaults of a new connection. */
export function newProfile(url: string, name = ''): ConnectionProfile {
  return {
    id: newId(),
    name,
    url,
    door: 'auto',
    protocolVersion: 5,
    clientId: '',
    username: '',
    cleanStart: true,
    keepAliveSeconds: 60,
    connectTimeoutSeconds: 10,
    reconnect: true,
    reconnectPeriodMs: 3_000,
    userProperties: [],
    authenticationMethod: '',
    tokenParameter: 'token',
    needs: { password: false, token: false },
    storeSecrets: false,
    subscriptions: [],
  };
}

/** @param taken how many there are: each takes the next colour */
export function newSubscription(filter: string, taken = 0): Subscription {
  return {
    id: newId(),
    filter,
    alias: '',
    color: COLORS[taken % COLORS.length] ?? COLORS[0],
    qos: 1,
    noLocal: false,
    retainAsPublished: false,
    retainHandling: 0,
    identifier: 'auto',
    userProperties: [],
    enabled: true,
  };
}

/** Also on pages that are served without TLS, where `crypto.randomUUID` is absent. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

import type { MqttClient } from 'mqtt';
import { endOfToken } from '../token-end.ts';
import type { ConnectionProfile, Secrets } from '../types.ts';
import { asBuffer } from './mqtt-properties.ts';

/** The Authentication Method with which AUTH shows another token (docs/identity.md). */
const METHOD = 'CUSTOM-JWT';

/** Re-authenticate (4.12.1). */
const RE_AUTHENTICATE = 0x19;

/** Bad authentication method: a broker that knows no AUTH with tokens. */
export const BAD_METHOD = 0x8c;

const encoder = new TextEncoder();

/** The open connection, as far as the renewal of its token is concerned. */
export interface Renewable {
  readonly profile: ConnectionProfile;
  readonly secrets: Secrets;
  /** False once the server has refused the method. */
  readonly isRenewable: boolean;
}

/**
 * The method that CONNECT names, without data: the token of the handshake counts. A client may only send AUTH with the
 * method of its CONNECT. Undefined where the user has set a method, and for a token without an end.
 */
export function renewalMethod({ profile, secrets, isRenewable }: Renewable): string | undefined {
  const { protocolVersion, authenticationMethod } = profile;
  const isOurs = isRenewable && protocolVersion === 5 && authenticationMethod === '';
  return isOurs && endOfToken(secrets.token) !== undefined ? METHOD : undefined;
}

/** Sends AUTH with another token, if the connection was opened with the method. */
export function showToken(client: MqttClient, token: string): void {
  if (!client.connected || client.options.properties?.authenticationMethod !== METHOD) return;
  // mqtt.js has no public way to begin a re-authentication.
  // biome-ignore lint/complexity/useLiteralKeys: TypeScript allows a private member only so
  client['_sendPacket']({
    cmd: 'auth',
    reasonCode: RE_AUTHENTICATE,
    properties: { authenticationMethod: METHOD, authenticationData: asBuffer(encoder.encode(token)) },
  });
}

import { expect } from 'vitest';
import { expectCloseWithoutPackets, type Peers } from './peers.ts';

/** The reason codes that the specification leaves open for something it does not allow. */
export type ReasonCodes = readonly number[];

export const MALFORMED: ReasonCodes = [0x81];
export const PROTOCOL_ERROR: ReasonCodes = [0x82];
/** Where the specification forbids a value and does not say which of the two it is. */
export const EITHER: ReasonCodes = [0x81, 0x82];
export const TOPIC_ALIAS_INVALID: ReasonCodes = [0x94];
/** Topic Name invalid is for well-formed names; a wildcard, or no character at all, may be called that or malformed. */
export const NO_TOPIC_NAME: ReasonCodes = [0x81, 0x82, 0x90];
/** A client identifier that is not text may also be called invalid. */
export const NO_CLIENT_IDENTIFIER: ReasonCodes = [0x81, 0x85];

type TestBody = () => Promise<void>;

/** A test: on a connection of MQTT 5.0 these bytes are answered with DISCONNECT and one of the codes, and it closes. */
export function disconnected(peers: Peers, bytes: string, reasonCodes: ReasonCodes): TestBody {
  return async () => {
    const { client } = await peers.connect();
    client.sendBytes(bytes);
    const disconnect = await client.expect('disconnect');
    expect(reasonCodes.map(hex)).toContain(hex(disconnect.reasonCode));
    await expectCloseWithoutPackets(client);
  };
}

/** A test: this CONNECT of MQTT 5.0 is answered with CONNACK and one of the codes, and the connection closes. */
export function refused(peers: Peers, bytes: string, reasonCodes: ReasonCodes): TestBody {
  return async () => {
    const client = await peers.open();
    client.sendBytes(bytes);
    const connack = await client.expect('connack');
    expect(reasonCodes.map(hex)).toContain(hex(connack.reasonCode));
    expect(connack.sessionPresent).toBe(false);
    await expectCloseWithoutPackets(client);
  };
}

/**
 * A test: bytes that are no CONNECT of a known version close the connection; a refusing CONNACK may come, a DISCONNECT
 * not.
 */
export function closedBeforeConnect(peers: Peers, bytes: string): TestBody {
  return async () => {
    const client = await peers.open();
    client.sendBytes(bytes);
    await client.expectClose();
    const answer = await client.next().catch(() => undefined);
    if (answer === undefined) return;
    expect(answer.cmd).toBe('connack');
    expect(answer.reasonCode).toBeGreaterThanOrEqual(0x80);
  };
}

/** A test: these bytes of MQTT 3.1.1, in place of a CONNECT, close the connection without a packet. */
export function closedInsteadOfConnack(peers: Peers, bytes: string): TestBody {
  return async () => {
    const client = await peers.open(4);
    client.sendBytes(bytes);
    await expectCloseWithoutPackets(client);
  };
}

/** A test: on a connection of MQTT 3.1.1 these bytes close it without a packet. */
export function closed311(peers: Peers, bytes: string): TestBody {
  return async () => {
    const { client } = await peers.connect({ protocolVersion: 4 });
    client.sendBytes(bytes);
    await expectCloseWithoutPackets(client);
  };
}

function hex(code: unknown): string {
  return `0x${Number(code).toString(16)}`;
}

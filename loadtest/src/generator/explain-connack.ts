import type { IConnackPacket } from 'mqtt-packet';

/** Reason Codes of CONNACK that a load test meets; MQTT 3.1.1's return codes are below 0x80. */
const REFUSALS: Readonly<Record<number, string>> = {
  1: 'the broker does not speak this version of MQTT',
  2: 'the broker refuses this client identifier',
  3: 'the broker is not available',
  4: 'the user name or password is wrong (--username, --password)',
  5: 'the broker wants to know who you are (--username, --password)',
  132: 'the broker does not speak this version of MQTT (0x84)',
  133: 'the broker refuses this client identifier (0x85)',
  134: 'the user name or password is wrong (0x86)',
  135: 'the broker wants to know who you are (0x87: --username, --password)',
  136: 'the broker is not available (0x88)',
  137: 'the broker is busy (0x89)',
  151: 'a quota of the broker is used up (0x97)',
  159: 'the broker limits the rate of connections (0x9F)',
};

/** Why a CONNACK refuses, or undefined when it accepts. */
export function explainConnack({ reasonCode, returnCode }: IConnackPacket): string | undefined {
  const code = reasonCode ?? returnCode ?? 0;
  if (code === 0) return undefined;
  return REFUSALS[code] ?? `the broker refused the connection with 0x${code.toString(16)}`;
}

import { describe, expect, it } from 'vitest';
import { unique } from '../support/unique.ts';
import { control, properties, text } from './raw/hex.ts';
import { subscribe, usePeers } from './raw/peers.ts';
import { disconnected, EITHER, MALFORMED, PROTOCOL_ERROR, type ReasonCodes } from './raw/refusals.ts';

const peers = usePeers();

/** On a connection of MQTT 5.0: DISCONNECT with one of these reason codes, then the close. */
const ends = (bytes: string, reasonCodes: ReasonCodes) => disconnected(peers, bytes, reasonCodes);

const REASON_STRING = `1f ${text('why')}`;

describe('a connection ends with a reason code [MQTT-4.13.1-1] for', () => {
  it('the reserved packet type 0', ends('00 00', EITHER));
  it('SUBSCRIBE with flags 0 [MQTT-3.8.1-1]', ends(control('80', '0001', '00', text('a'), '00'), MALFORMED));
  it('SUBSCRIBE with flags 3 [MQTT-3.8.1-1]', ends(control('83', '0001', '00', text('a'), '00'), MALFORMED));
  it('UNSUBSCRIBE with flags 0 [MQTT-3.10.1-1]', ends(control('a0', '0001', '00', text('a')), MALFORMED));
  it('PUBREL with flags 0 [MQTT-3.6.1-1]', ends('60 02 0001', MALFORMED));
  it('PUBACK with flags 2 [MQTT-2.1.3-1]', ends('42 02 0001', MALFORMED));
  it('PUBREC with flags 1 [MQTT-2.1.3-1]', ends('51 02 0001', MALFORMED));
  it('PUBCOMP with flags 8 [MQTT-2.1.3-1]', ends('78 02 0001', MALFORMED));
  it('PINGREQ with flags 1 [MQTT-2.1.3-1]', ends('c1 00', MALFORMED));
  it('DISCONNECT with flags 1 [MQTT-3.14.1-1]', ends('e1 00', MALFORMED));
  it('AUTH with flags 1 [MQTT-3.15.1-1]', ends('f1 00', MALFORMED));
  it('a Remaining Length of five bytes [MQTT-1.5.5-1]', ends('30 ffffffff7f', MALFORMED));
  it('a Remaining Length of more bytes than it needs [MQTT-1.5.5-1]', ends('c0 8000', MALFORMED));
  it('PINGREQ with a body', ends('c0 01 00', EITHER));
  it('CONNACK from a client', ends('20 03 00 00 00', PROTOCOL_ERROR));
  it('SUBACK from a client', ends('90 04 0001 00 00', PROTOCOL_ERROR));
  it('UNSUBACK from a client', ends('b0 04 0001 00 00', PROTOCOL_ERROR));
  it('PINGRESP from a client', ends('d0 00', PROTOCOL_ERROR));
});

describe('a connection ends with a reason code [MQTT-4.13.1-1] for', () => {
  it('PUBACK of one byte', ends('40 01 00', MALFORMED));
  it('PUBACK without a packet identifier', ends('40 00', MALFORMED));
  it('PUBACK with packet identifier 0 [MQTT-2.2.1-5]', ends('40 02 0000', EITHER));
  it('PUBACK with a reason code of SUBACK [MQTT-3.4.2-1]', ends('40 03 0001 01', EITHER));
  it(
    'PUBACK with Reason String twice',
    ends(control('40', '0001', '00', properties(REASON_STRING, REASON_STRING)), PROTOCOL_ERROR),
  );
  it('PUBREC with a reason code of PUBREL [MQTT-3.5.2-1]', ends('50 03 0001 92', EITHER));
  it(
    'PUBREC with a property of PUBLISH',
    ends(control('50', '0001', '00', properties('23 0001')), MALFORMED),
  );
  it('PUBREL with a reason code of PUBREC [MQTT-3.6.2-1]', ends('62 03 0001 10', EITHER));
  it('PUBCOMP with a reason code of PUBREC [MQTT-3.7.2-1]', ends('70 03 0001 10', EITHER));
  it('DISCONNECT with a reason code that does not exist [MQTT-3.14.2-1]', ends('e0 01 01', EITHER));
  it('DISCONNECT with a reason code of the server [MQTT-3.14.2-1]', ends('e0 01 8b', EITHER));
  it(
    'DISCONNECT with Session Expiry Interval twice',
    ends(control('e0', '00', properties('11 00000000 11 00000000')), PROTOCOL_ERROR),
  );
  it(
    'DISCONNECT with Reason String twice',
    ends(control('e0', '00', properties(REASON_STRING, REASON_STRING)), PROTOCOL_ERROR),
  );
  it('DISCONNECT with a property of CONNECT', ends(control('e0', '00', properties('21 0001')), MALFORMED));
  it('DISCONNECT with bytes after its properties', ends('e0 03 00 00 00', EITHER));
  it(
    'AUTH with a reason code that does not exist [MQTT-3.15.2-1]',
    ends(control('f0', '01', properties('15', text('X'))), EITHER),
  );
  it(
    'AUTH with Authentication Method twice',
    ends(control('f0', '19', properties('15', text('X'), '15', text('X'))), PROTOCOL_ERROR),
  );
});

describe('text in packets', () => {
  it('keeps U+FEFF wherever it stands [MQTT-1.5.4-3] [MQTT3-1.5.3-3]', async () => {
    const topic = unique('\u{feff}mark\u{feff}');
    const { client } = await peers.connect();
    await subscribe(client, topic);
    client.sendBytes(control('30', text(topic.slice(1)), '00', '31'));
    client.sendBytes(control('30', text(topic), '00', '32'));
    const message = await client.expect('publish');
    expect(String(message.payload)).toBe('2');
    expect(client.bytesOf(message).includes(Buffer.from(topic))).toBe(true);
    await client.expectNothing();
  });

  it('may hold every other code point, among them controls and noncharacters [MQTT-1.5.4-1]', async () => {
    const topic = `${unique('all')}\u{1}\u{7f}\u{9f}\u{d7ff}\u{e000}\u{fdd0}\u{fffd}\u{ffff}\u{10000}\u{10ffff}`;
    const { client } = await peers.connect();
    await subscribe(client, topic);
    client.sendBytes(control('30', text(topic), '00', '78'));
    expect((await client.expect('publish')).topic).toBe(topic);
  });
});

import { describe, it } from 'vitest';
import { type ConnectParts, connectBytes, counted, properties, text } from './raw/hex.ts';
import { usePeers } from './raw/peers.ts';
import {
  closedBeforeConnect,
  EITHER,
  MALFORMED,
  NO_CLIENT_IDENTIFIER,
  NO_TOPIC_NAME,
  PROTOCOL_ERROR,
  type ReasonCodes,
  refused,
} from './raw/refusals.ts';

const peers = usePeers();

const NUL_INSIDE = counted('61 00 62');
const SURROGATE = counted('61 eda080 62');
/** A client identifier, no will properties, a will topic and its payload. */
const ID_AND_WILL = [text('a'), '00', text('t'), text('p')].join('');

/** CONNECT of MQTT 5.0 with these parts: CONNACK with one of these reason codes, then the close. */
const connect = (reasonCodes: ReasonCodes, parts: ConnectParts) =>
  refused(peers, connectBytes(parts), reasonCodes);
/** CONNECT with these properties. */
const withProperties = (reasonCodes: ReasonCodes, ...content: string[]) =>
  connect(reasonCodes, { properties: properties(...content) });
/** CONNECT with these will properties, topic and payload. */
const withWill = (reasonCodes: ReasonCodes, ...will: string[]) =>
  connect(reasonCodes, { flags: '06', payload: [text('a'), ...will].join('') });
const closes = (bytes: string) => closedBeforeConnect(peers, bytes);

describe('CONNECT is refused with a reason code [MQTT-3.1.4-1] for', () => {
  it('the reserved flag [MQTT-3.1.2-3]', connect(MALFORMED, { flags: '03' }));
  it('Will QoS without Will Flag [MQTT-3.1.2-11]', connect(EITHER, { flags: '0a' }));
  it('Will Retain without Will Flag [MQTT-3.1.2-13]', connect(EITHER, { flags: '22' }));
  it(
    'Will QoS 3 [MQTT-3.1.2-12]',
    connect(MALFORMED, {
      flags: '1e',
      payload: ID_AND_WILL,
    }),
  );
  it('Will Flag and no will [MQTT-3.1.2-9]', connect(MALFORMED, { flags: '06' }));
  it(
    'a will without Will Flag [MQTT-3.1.3-1]',
    connect(MALFORMED, {
      payload: ID_AND_WILL,
    }),
  );
  it('User Name Flag and no user name [MQTT-3.1.2-17]', connect(MALFORMED, { flags: '82' }));
  it(
    'a user name without User Name Flag [MQTT-3.1.2-16]',
    connect(MALFORMED, {
      payload: text('a') + text('u'),
    }),
  );
  it(
    'Password Flag and no password [MQTT-3.1.2-19]',
    connect(MALFORMED, {
      flags: 'c2',
      payload: text('a') + text('u'),
    }),
  );
  it(
    'a password without Password Flag [MQTT-3.1.2-18]',
    connect(MALFORMED, {
      flags: '82',
      payload: text('a') + text('u') + text('p'),
    }),
  );
  it('no client identifier [MQTT-3.1.3-3]', connect(MALFORMED, { payload: '' }));
  it(
    'U+0000 in the client identifier [MQTT-1.5.4-2] [MQTT-3.1.3-4]',
    connect(NO_CLIENT_IDENTIFIER, {
      payload: NUL_INSIDE,
    }),
  );
  it(
    'a client identifier that is not UTF-8 [MQTT-3.1.3-4]',
    connect(NO_CLIENT_IDENTIFIER, { payload: SURROGATE }),
  );
  it('a client identifier cut short', connect(MALFORMED, { payload: '0005 61' }));
  it(
    'a user name that is not UTF-8 [MQTT-3.1.3-12]',
    connect(MALFORMED, {
      flags: '82',
      payload: text('a') + SURROGATE,
    }),
  );
  it('no Property Length [MQTT-2.2.2-1]', connect(MALFORMED, { properties: '', payload: '' }));
  it('a Property Length past its end', connect(MALFORMED, { properties: '7f' }));
  it('a Property Length of five bytes [MQTT-1.5.5-1]', connect(MALFORMED, { properties: '8080808001' }));
  it('an unknown property', withProperties(MALFORMED, '7f 00'));
  it('a property of PUBLISH', withProperties(MALFORMED, '23 0001'));
  it('Session Expiry Interval twice', withProperties(PROTOCOL_ERROR, '11 00000001 11 00000001'));
  it('Receive Maximum twice', withProperties(PROTOCOL_ERROR, '21 0001 21 0001'));
  it('Receive Maximum 0', withProperties(PROTOCOL_ERROR, '21 0000'));
  it('Maximum Packet Size twice', withProperties(PROTOCOL_ERROR, '27 00001000 27 00001000'));
  it('Maximum Packet Size 0', withProperties(PROTOCOL_ERROR, '27 00000000'));
  it('Topic Alias Maximum twice', withProperties(PROTOCOL_ERROR, '22 0001 22 0001'));
  it('Request Response Information twice', withProperties(PROTOCOL_ERROR, '19 00 19 00'));
  it('Request Response Information 2', withProperties(PROTOCOL_ERROR, '19 02'));
  it('Request Problem Information twice', withProperties(PROTOCOL_ERROR, '17 01 17 01'));
  it('Request Problem Information 2', withProperties(PROTOCOL_ERROR, '17 02'));
  it('Authentication Method twice', withProperties(PROTOCOL_ERROR, '15', text('X'), '15', text('X')));
  it('Authentication Data without a method', withProperties(PROTOCOL_ERROR, '16', text('d')));
  it('a User Property with U+0000 [MQTT-1.5.7-1]', withProperties(MALFORMED, '26', NUL_INSIDE, text('v')));
  it('an empty will topic [MQTT-4.7.3-1]', withWill(NO_TOPIC_NAME, '00', text(''), text('p')));
  it('a wildcard in the will topic [MQTT-3.3.2-2]', withWill(NO_TOPIC_NAME, '00', text('a/#'), text('p')));
  it('a will topic that is not UTF-8 [MQTT-3.1.3-11]', withWill(MALFORMED, '00', SURROGATE, text('p')));
  it('a will payload cut short [MQTT-3.1.2-9]', withWill(MALFORMED, '00', text('t'), '0009 70'));
  it(
    'Will Delay Interval twice',
    withWill(PROTOCOL_ERROR, properties('18 00000001 18 00000001'), text('t'), text('p')),
  );
  it(
    'Payload Format Indicator of the will twice',
    withWill(PROTOCOL_ERROR, properties('01 00 01 00'), text('t'), text('p')),
  );
  it('Topic Alias in the will properties', withWill(MALFORMED, properties('23 0001'), text('t'), text('p')));
  it(
    'a Response Topic of the will with a wildcard [MQTT-3.3.2-14]',
    withWill(NO_TOPIC_NAME, properties('08', text('a/+')), text('t'), text('p')),
  );
});

describe('a connection is closed [MQTT-3.1.4-1] [MQTT-3.14.0-1] for', () => {
  it('flags in the fixed header of CONNECT [MQTT-2.1.3-1]', closes(`11${connectBytes().slice(2)}`));
  it('CONNECT without a body', closes('10 00'));
  it('CONNECT that ends in its protocol name', closes('10 04 0004 4d51'));
  it('CONNECT that ends after its version', closes('10 07 0004 4d515454 05'));
  it('CONNECT with a Remaining Length of five bytes', closes('10 ffffffff7f'));
  it('the reserved packet type 0', closes('00 00'));
  it('HTTP', closes(Buffer.from('GET / HTTP/1.1\r\n\r\n').toString('hex')));
});

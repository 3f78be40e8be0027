import { describe, it } from 'vitest';
import { connect311Bytes, control, counted, text } from './raw/hex.ts';
import { usePeers } from './raw/peers.ts';
import { closed311, closedInsteadOfConnack } from './raw/refusals.ts';

const peers = usePeers();

const NUL_INSIDE = counted('61 00 62');
const SURROGATE = counted('61 eda080 62');

/** The connection closes before any packet has come. */
const unanswered = (bytes: string) => closedInsteadOfConnack(peers, bytes);
/** After CONNACK the connection closes and no packet comes. */
const ends = (bytes: string) => closed311(peers, bytes);

describe('MQTT 3.1.1 is closed without a CONNACK [MQTT3-3.1.4-1] for CONNECT with', () => {
  it('the reserved flag [MQTT3-3.1.2-3]', unanswered(connect311Bytes({ flags: '03' })));
  it('flags in its fixed header [MQTT3-2.2.2-2]', unanswered(`11${connect311Bytes().slice(2)}`));
  it(
    'Will QoS without Will Flag [MQTT3-3.1.2-13] [MQTT3-3.1.2-11]',
    unanswered(connect311Bytes({ flags: '0a' })),
  );
  it('Will Retain without Will Flag [MQTT3-3.1.2-15]', unanswered(connect311Bytes({ flags: '22' })));
  it(
    'Will QoS 3 [MQTT3-3.1.2-14]',
    unanswered(connect311Bytes({ flags: '1e', payload: text('a') + text('t') + text('p') })),
  );
  it('Will Flag and no will [MQTT3-3.1.2-9]', unanswered(connect311Bytes({ flags: '06' })));
  it('User Name Flag and no user name [MQTT3-3.1.2-19]', unanswered(connect311Bytes({ flags: '82' })));
  it(
    'a user name without User Name Flag [MQTT3-3.1.2-18]',
    unanswered(connect311Bytes({ payload: text('a') + text('u') })),
  );
  it(
    'Password Flag and no password [MQTT3-3.1.2-21]',
    unanswered(connect311Bytes({ flags: 'c2', payload: text('a') + text('u') })),
  );
  it(
    'a password without Password Flag [MQTT3-3.1.2-20]',
    unanswered(connect311Bytes({ flags: '82', payload: text('a') + text('u') + text('p') })),
  );
  it(
    'Password Flag without User Name Flag [MQTT3-3.1.2-22]',
    unanswered(connect311Bytes({ flags: '42', payload: text('a') + text('p') })),
  );
  it('no client identifier [MQTT3-3.1.3-3]', unanswered(connect311Bytes({ payload: '' })));
  it(
    'a client identifier that is not UTF-8 [MQTT3-3.1.3-4] [MQTT3-1.5.3-1]',
    unanswered(connect311Bytes({ payload: SURROGATE })),
  );
  it('U+0000 in the client identifier [MQTT3-1.5.3-2]', unanswered(connect311Bytes({ payload: NUL_INSIDE })));
  it(
    'a will topic that is not UTF-8 [MQTT3-3.1.3-10]',
    unanswered(connect311Bytes({ flags: '06', payload: text('a') + SURROGATE + text('p') })),
  );
  it(
    'a user name that is not UTF-8 [MQTT3-3.1.3-11]',
    unanswered(connect311Bytes({ flags: '82', payload: text('a') + SURROGATE })),
  );
  it('properties, which it does not have', unanswered(connect311Bytes({ properties: '00' })));
});

describe('a connection of MQTT 3.1.1 ends without a packet for', () => {
  it('SUBSCRIBE with flags 0 [MQTT3-3.8.1-1]', ends(control('80', '0001', text('a'), '00')));
  it('UNSUBSCRIBE with flags 0 [MQTT3-3.10.1-1]', ends(control('a0', '0001', text('a'))));
  it('PUBREL with flags 0 [MQTT3-3.6.1-1]', ends('60 02 0001'));
  it('PINGREQ with flags 1 [MQTT3-2.2.2-2]', ends('c1 00'));
  it('DISCONNECT with flags 1 [MQTT3-3.14.1-1]', ends('e1 00'));
  it('PUBLISH at QoS 3 [MQTT3-3.3.1-4]', ends('36 06 0001 61 0001 78'));
  it('PUBLISH at QoS 0 with DUP [MQTT3-3.3.1-2]', ends('38 04 0001 61 78'));
  it('PUBLISH with packet identifier 0 [MQTT3-2.3.1-1]', ends('32 06 0001 61 0000 78'));
  it(
    'PUBLISH with a wildcard in its topic [MQTT3-3.3.2-2] [MQTT3-4.7.1-1]',
    ends(control('30', text('a/#'), '78')),
  );
  it('PUBLISH with an empty topic [MQTT3-4.7.3-1]', ends(control('30', text(''), '78')));
  it(
    'PUBLISH with U+0000 in its topic [MQTT3-1.5.3-2] [MQTT3-4.7.3-2]',
    ends(control('30', counted('61 00'), '78')),
  );
  it(
    'PUBLISH with a topic that is not UTF-8 [MQTT3-1.5.3-1] [MQTT3-3.3.2-1]',
    ends(control('30', counted('ff'), '78')),
  );
  it('SUBSCRIBE to what is not UTF-8 [MQTT3-3.8.3-1]', ends(control('82', '0001', counted('ff'), '00')));
  it('SUBSCRIBE without a filter [MQTT3-3.8.3-3]', ends('82 02 0001'));
  it('SUBSCRIBE at QoS 3 [MQTT3-3.8.3-4]', ends(control('82', '0001', text('a'), '03')));
  it('SUBSCRIBE with an option of MQTT 5.0 [MQTT3-3.8.3-4]', ends(control('82', '0001', text('a'), '04')));
  it('SUBSCRIBE with packet identifier 0 [MQTT3-2.3.1-1]', ends(control('82', '0000', text('a'), '00')));
  it('UNSUBSCRIBE from what is not UTF-8 [MQTT3-3.10.3-1]', ends(control('a2', '0001', counted('ff'))));
  it('UNSUBSCRIBE without a filter [MQTT3-3.10.3-2]', ends('a2 02 0001'));
  it('CONNACK from a client [MQTT3-4.8.0-1]', ends('20 02 0000'));
  it('PINGRESP from a client [MQTT3-4.8.0-1]', ends('d0 00'));
  it('AUTH, the reserved packet type 15 [MQTT3-4.8.0-1]', ends('f0 00'));
  it('the reserved packet type 0 [MQTT3-4.8.0-1]', ends('00 00'));
  it('a Remaining Length of five bytes [MQTT3-4.8.0-1]', ends('30 ffffffff7f'));
  it('a second CONNECT [MQTT3-3.1.0-2]', ends(connect311Bytes()));
});

import { describe, it } from 'vitest';
import { control, counted, properties, text } from './raw/hex.ts';
import { usePeers } from './raw/peers.ts';
import { disconnected, EITHER, MALFORMED, PROTOCOL_ERROR, type ReasonCodes } from './raw/refusals.ts';

const peers = usePeers();

/** On a connection of MQTT 5.0: DISCONNECT with one of these reason codes, then the close. */
const ends = (bytes: string, reasonCodes: ReasonCodes) => disconnected(peers, bytes, reasonCodes);

const OVERLONG_SLASH = counted('61 c0af 62');
const NUL_INSIDE = counted('61 00 62');
const SURROGATE = counted('61 eda080 62');

const subscribe = (...rest: string[]) => control('82', '0001', ...rest);
const unsubscribe = (...rest: string[]) => control('a2', '0001', ...rest);

describe('a connection ends with a reason code [MQTT-4.13.1-1] for', () => {
  it('SUBSCRIBE without a filter [MQTT-3.8.3-2]', ends(subscribe('00'), PROTOCOL_ERROR));
  it('SUBSCRIBE without options', ends(subscribe('00', text('a')), MALFORMED));
  it('SUBSCRIBE at QoS 3', ends(subscribe('00', text('a'), '03'), PROTOCOL_ERROR));
  it('SUBSCRIBE with Retain Handling 3', ends(subscribe('00', text('a'), '30'), PROTOCOL_ERROR));
  it(
    'SUBSCRIBE with a reserved option, 0x40 [MQTT-3.8.3-5]',
    ends(subscribe('00', text('a'), '40'), MALFORMED),
  );
  it(
    'SUBSCRIBE with a reserved option, 0x80 [MQTT-3.8.3-5]',
    ends(subscribe('00', text('a'), '80'), MALFORMED),
  );
  it(
    'SUBSCRIBE with No Local to a shared filter [MQTT-3.8.3-4]',
    ends(subscribe('00', text('$share/g/a'), '04'), PROTOCOL_ERROR),
  );
  it(
    'SUBSCRIBE with packet identifier 0 [MQTT-2.2.1-3]',
    ends(control('82', '0000', '00', text('a'), '00'), EITHER),
  );
  it(
    'SUBSCRIBE to a filter that is not UTF-8 [MQTT-3.8.3-1]',
    ends(subscribe('00', OVERLONG_SLASH, '00'), MALFORMED),
  );
  it('SUBSCRIBE to a filter with U+0000 [MQTT-1.5.4-2]', ends(subscribe('00', NUL_INSIDE, '00'), MALFORMED));
  it(
    'SUBSCRIBE with Subscription Identifier 0',
    ends(subscribe(properties('0b 00'), text('a'), '00'), PROTOCOL_ERROR),
  );
  it(
    'SUBSCRIBE with Subscription Identifier twice',
    ends(subscribe(properties('0b 01 0b 02'), text('a'), '00'), PROTOCOL_ERROR),
  );
  it(
    'SUBSCRIBE with a Subscription Identifier of five bytes [MQTT-1.5.5-1]',
    ends(subscribe(properties('0b 8080808001'), text('a'), '00'), MALFORMED),
  );
  it(
    'SUBSCRIBE with a property of PUBLISH',
    ends(subscribe(properties('02 0000000a'), text('a'), '00'), MALFORMED),
  );
  it('SUBSCRIBE of one byte', ends('82 01 00', MALFORMED));
  it('UNSUBSCRIBE without a filter [MQTT-3.10.3-2]', ends(unsubscribe('00'), PROTOCOL_ERROR));
  it(
    'UNSUBSCRIBE with packet identifier 0 [MQTT-2.2.1-3]',
    ends(control('a2', '0000', '00', text('a')), EITHER),
  );
  it(
    'UNSUBSCRIBE from a filter that is not UTF-8 [MQTT-3.10.3-1]',
    ends(unsubscribe('00', SURROGATE), MALFORMED),
  );
  it('UNSUBSCRIBE from a filter cut short', ends(unsubscribe('00', text('a'), '0005 61'), MALFORMED));
  it(
    'UNSUBSCRIBE with a property of SUBSCRIBE',
    ends(unsubscribe(properties('0b 01'), text('a')), MALFORMED),
  );
});

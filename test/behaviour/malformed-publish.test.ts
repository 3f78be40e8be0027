import { describe, it } from 'vitest';
import { differsAt } from '../support/only-at.ts';
import { control, counted, properties, text } from './raw/hex.ts';
import { usePeers } from './raw/peers.ts';
import {
  disconnected,
  EITHER,
  MALFORMED,
  NO_TOPIC_NAME,
  PROTOCOL_ERROR,
  type ReasonCodes,
  TOPIC_ALIAS_INVALID,
} from './raw/refusals.ts';

const peers = usePeers();

/** On a connection of MQTT 5.0: DISCONNECT with one of these reason codes, then the close. */
const ends = (bytes: string, reasonCodes: ReasonCodes) => disconnected(peers, bytes, reasonCodes);

const OVERLONG_SLASH = counted('61 c0af 62');
const NUL_INSIDE = counted('61 00 62');
const SURROGATE = counted('61 eda080 62');
const CUT_SHORT = counted('61 e282');
const BEYOND_UNICODE = counted('f4908080');
const STRAY_CONTINUATION = counted('61 80');

/** PUBLISH at QoS 0 of the payload `x`, with these properties, with this topic. */
const publish = (propertyBlock: string, topic: string = text('a')) =>
  control('30', topic, propertyBlock, '78');

describe('a connection ends with a reason code [MQTT-4.13.1-1] for PUBLISH with', () => {
  it('QoS 3 [MQTT-3.3.1-4]', ends('36 07 0001 61 0001 00 78', MALFORMED));
  it('DUP at QoS 0 [MQTT-3.3.1-2]', ends('38 05 0001 61 00 78', EITHER));
  it('no topic at all [MQTT-3.3.2-1]', ends('30 00', MALFORMED));
  it('a topic longer than the packet [MQTT-3.3.2-1]', ends('30 05 0009 61 00 78', MALFORMED));
  it('an empty topic without Topic Alias [MQTT-4.7.3-1]', ends(publish('00', text('')), PROTOCOL_ERROR));
  it('+ in the topic [MQTT-3.3.2-2]', ends(publish('00', text('a/+/b')), NO_TOPIC_NAME));
  it('# in the topic [MQTT-3.3.2-2]', ends(publish('00', text('a/#')), NO_TOPIC_NAME));
  it('U+0000 in the topic [MQTT-1.5.4-2] [MQTT-4.7.3-2]', ends(publish('00', NUL_INSIDE), MALFORMED));
  it('a surrogate in the topic [MQTT-1.5.4-1]', ends(publish('00', SURROGATE), MALFORMED));
  it('an overlong encoding in the topic [MQTT-1.5.4-1]', ends(publish('00', OVERLONG_SLASH), MALFORMED));
  it('an encoding cut short in the topic [MQTT-1.5.4-1]', ends(publish('00', CUT_SHORT), MALFORMED));
  it(
    'a code point beyond Unicode in the topic [MQTT-1.5.4-1]',
    ends(publish('00', BEYOND_UNICODE), MALFORMED),
  );
  it('a stray continuation in the topic [MQTT-1.5.4-1]', ends(publish('00', STRAY_CONTINUATION), MALFORMED));
  it('QoS 1 without a packet identifier [MQTT-2.2.1-3]', ends('32 03 0001 61', MALFORMED));
  it('QoS 1 with packet identifier 0 [MQTT-2.2.1-3]', ends('32 06 0001 61 0000 00', EITHER));
  it('QoS 2 with packet identifier 0 [MQTT-2.2.1-3]', ends('34 06 0001 61 0000 00', EITHER));
  it('no Property Length [MQTT-2.2.2-1]', ends('30 03 0001 61', MALFORMED));
  it('a Property Length past the end of the packet', ends('30 06 0001 61 09 01 00', MALFORMED));
  it('a property cut short by the Property Length', ends(publish('03 02 0000'), MALFORMED));
  it('an unknown property', ends(publish(properties('7f 00')), MALFORMED));
  it('a property of CONNECT', ends(publish(properties('11 0000000a')), MALFORMED));
  it('Payload Format Indicator twice', ends(publish(properties('01 00 01 00')), PROTOCOL_ERROR));
  it('Payload Format Indicator 2', ends(publish(properties('01 02')), EITHER));
  it('Message Expiry Interval twice', ends(publish(properties('02 0000000a 02 0000000a')), PROTOCOL_ERROR));
  it('Content Type twice', ends(publish(properties('03 0000 03 0000')), PROTOCOL_ERROR));
  it('Content Type that is not UTF-8 [MQTT-3.3.2-19]', ends(publish(properties('03', SURROGATE)), MALFORMED));
  it('Response Topic twice', ends(publish(properties('08', text('a'), '08', text('a'))), PROTOCOL_ERROR));
  it(
    'Response Topic with a wildcard [MQTT-3.3.2-14]',
    ends(publish(properties('08', text('a/#'))), NO_TOPIC_NAME),
  );
  it(
    'Response Topic that is not UTF-8 [MQTT-3.3.2-13]',
    ends(publish(properties('08', OVERLONG_SLASH)), MALFORMED),
  );
  it('Correlation Data twice', ends(publish(properties('09 0000 09 0000')), PROTOCOL_ERROR));
  it('Topic Alias twice', ends(publish(properties('23 0001 23 0001')), PROTOCOL_ERROR));
  it('Topic Alias 0 [MQTT-3.3.2-8]', ends(publish(properties('23 0000')), TOPIC_ALIAS_INVALID));
  it(
    'Topic Alias beyond the maximum [MQTT-3.3.2-9]',
    ends(publish(properties('23 ffff')), TOPIC_ALIAS_INVALID),
  );
  it(
    'an empty topic with a Topic Alias never set',
    ends(
      publish(properties('23 0001'), text('')),
      differsAt('gateway', 'it takes no alias') ? TOPIC_ALIAS_INVALID : PROTOCOL_ERROR,
    ),
  );
  it('a Subscription Identifier [MQTT-3.3.4-6]', ends(publish(properties('0b 01')), PROTOCOL_ERROR));
  it('a User Property without value', ends(publish(properties('26', text('a'))), MALFORMED));
  it(
    'a User Property name that is not UTF-8 [MQTT-1.5.7-1]',
    ends(publish(properties('26', SURROGATE, text('v'))), MALFORMED),
  );
  it(
    'a User Property value with U+0000 [MQTT-1.5.7-1]',
    ends(publish(properties('26', text('n'), NUL_INSIDE)), MALFORMED),
  );
});

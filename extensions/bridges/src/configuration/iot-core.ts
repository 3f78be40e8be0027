import { Fields } from '@apus/identity';
import { iotCoreRegionOf } from '../rules/configuration/iot-core.ts';
import type { BridgeCommon } from './common.ts';
import {
  checkMappings,
  type MqttBridgeConfiguration,
  mappingsOf,
  type RemoteTraits,
  remoteOf,
  type TopicMapping,
} from './mqtt.ts';
import { countOf } from './numbers.ts';
import type { Place } from './place.ts';
import { tlsOf } from './tls.ts';

const FIELDS = [
  ...['endpoint', 'clientId', 'keepAliveSeconds', 'sessionExpirySeconds', 'tls'],
  ...['webSocket', 'region'],
];
const ENDPOINT = /^([A-Za-z0-9-]+\.)*[A-Za-z0-9-]+(:\d{1,5})?$/;
/** The port of MQTT over TLS; at port 443 ALPN names the protocol. */
const PORT = '8883';
const ALPN_PORT = '443';
const ALPN_PROTOCOL = 'x-amzn-mqtt-ca';
/**
 * https://docs.aws.amazon.com/general/latest/gr/iot-core.html#message-broker-limits; the other limits of `IOT_CORE` are
 * from there too.
 */
const KEEP_ALIVE_SECONDS_MIN = 30;
const KEEP_ALIVE_SECONDS_MAX = 1_200;
const EXPIRY_SECONDS_MAX = 604_800;

/**
 * Limits of AWS IoT Core that CONNACK does not state. IoT Core accepts "no local" but sends a client its own messages
 * nevertheless (aws/aws-iot-device-sdk-python-v2, issue 464); it closes the connection of a client that exceeds a
 * limit.
 */
const IOT_CORE: RemoteTraits = {
  honoursNoLocal: false,
  isQuotaTemporary: true,
  topicFiltersMax: 8,
  topicSlashesMax: 7,
  topicBytesMax: 256,
  payloadBytesMax: 128 * 1024,
};

/**
 * A bridge to AWS IoT Core, over mutual TLS or a WebSocket with a signed URL: a bridge to an MQTT 5 broker with its own
 * limits.
 */
export function readIotCoreBridge(
  fields: Fields,
  common: BridgeCommon,
  place: Place,
): MqttBridgeConfiguration {
  const connection = new Fields(fields.raw('iotCore'), `${fields.where}.iotCore`, FIELDS);
  const isWebSocket = connection.flag('webSocket') ?? false;
  const way = isWebSocket ? signedWay(connection, place) : certifiedWay(connection, place);
  const seconds = (name: string, least: number, most: number, preset: number) =>
    countOf(connection, name, least, most, preset);
  const bridge: MqttBridgeConfiguration = {
    ...common,
    kind: 'mqtt',
    ...{ protocolVersion: 5, isBridgeMode: false, ...way },
    clientId: connection.text('clientId') ?? `apus-${common.name}`,
    ...{ username: undefined, password: undefined },
    keepAliveSeconds: seconds('keepAliveSeconds', KEEP_ALIVE_SECONDS_MIN, KEEP_ALIVE_SECONDS_MAX, 60),
    sessionExpirySeconds: seconds('sessionExpirySeconds', 1, EXPIRY_SECONDS_MAX, EXPIRY_SECONDS_MAX),
    traits: IOT_CORE,
    in: mappingsOf(fields, 'in'),
    out: mappingsOf(fields, 'out'),
  };
  checkMappings(bridge, fields);
  checkTopics(fields, 'in', bridge.in);
  checkTopics(fields, 'out', bridge.out);
  return bridge;
}

type Way = Pick<MqttBridgeConfiguration, 'url' | 'tls' | 'alpnProtocol' | 'signing'>;

/** MQTT over TLS: IoT Core authenticates the bridge by its certificate. */
function certifiedWay(connection: Fields, place: Place): Way {
  const endpoint = endpointOf(connection, PORT);
  const tls = tlsOf(connection, place);
  if (tls?.certificate === undefined)
    connection.fail(
      'tls',
      'is missing: "certificate" and "key" of a thing are what IoT Core knows it by; or set "webSocket".',
    );
  if (connection.raw('region') !== undefined) connection.fail('region', 'is for "webSocket": true.');
  const { port } = new URL(`mqtts://${endpoint}`);
  const alpnProtocol = port === ALPN_PORT ? ALPN_PROTOCOL : undefined;
  return { url: `mqtts://${endpoint}`, tls, alpnProtocol, signing: undefined };
}

/** MQTT over a WebSocket: IoT Core authenticates the bridge by the signature of the URL. */
function signedWay(connection: Fields, place: Place): Way {
  const endpoint = endpointOf(connection, ALPN_PORT);
  const tls = tlsOf(connection, place);
  if (tls?.certificate !== undefined)
    connection.fail('tls', 'has a certificate, which a WebSocket of IoT Core does not ask for.');
  const region = connection.text('region') ?? iotCoreRegionOf(endpoint.replace(/:\d+$/, ''));
  if (region === undefined) connection.fail('region', 'is missing: the endpoint does not say it.');
  return { url: `wss://${endpoint}/mqtt`, tls, alpnProtocol: undefined, signing: { region: region ?? '' } };
}

function endpointOf(connection: Fields, port: string): string {
  const text = connection.requiredText('endpoint', 'as a1b2c3d4e5f6g7-ats.iot.eu-west-1.amazonaws.com.');
  if (!ENDPOINT.test(text))
    connection.fail('endpoint', 'has to be a name as a1b2c3d4e5f6g7-ats.iot.eu-west-1.amazonaws.com.');
  return text.includes(':') ? text : `${text}:${port}`;
}

/** @throws {ConfigurationError} if a topic exceeds a limit of IoT Core */
export function checkTopics(
  fields: Fields,
  direction: 'in' | 'out',
  mappings: readonly TopicMapping[],
): void {
  for (const [index, mapping] of mappings.entries()) checkMapping(fields, `${direction}[${index}]`, mapping);
}

function checkMapping(fields: Fields, where: string, mapping: TopicMapping): void {
  const topic = remoteOf(mapping);
  if (mapping.qos > 1) fields.fail(where, 'has "qos": 2, which IoT Core does not have.');
  if (slashesOf(topic) > IOT_CORE.topicSlashesMax)
    fields.fail(where, `has more than ${IOT_CORE.topicSlashesMax} slashes at IoT Core: ${topic}.`);
  if (Buffer.byteLength(topic) > IOT_CORE.topicBytesMax)
    fields.fail(where, `has more than ${IOT_CORE.topicBytesMax} bytes at IoT Core.`);
}

function slashesOf(topic: string): number {
  return topic.split('/').length - 1;
}

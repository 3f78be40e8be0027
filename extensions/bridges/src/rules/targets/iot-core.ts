import { type Clock, isExpired, type Message, reasonOf, remainingSeconds } from '@apus/broker';
import { AwsV4Signer } from 'aws4fetch';
import { filledByTopic } from '../../configuration/template.ts';
import type { AwsCredentials } from '../../mqtt/signed-url.ts';
import type { IotCoreTargetConfiguration } from '../configuration/iot-core.ts';
import type { Failure, Target } from '../target.ts';

/** The service name of the data endpoint in signatures. */
const SERVICE = 'iotdata';
const TIMEOUT_MS = 10_000;
/** https://docs.aws.amazon.com/general/latest/gr/iot-core.html#message-broker-limits */
const PAYLOAD_BYTES_MAX = 128 * 1024;
/** Statuses after which another attempt may succeed. */
const LATER = new Set([408, 429]);
const ERROR_LENGTH_MAX = 200;

/**
 * Publishes to AWS IoT Core. Its HTTPS endpoint takes one message at a time, and answers at QoS 1 when IoT Core has it.
 */
export class IotCoreTarget implements Target {
  readonly type = 'iotCore';
  readonly remote: string;
  readonly batch = { messagesMax: 1, bytesMax: 0, isPartial: false };
  readonly #configuration: IotCoreTargetConfiguration;
  readonly #credentials: () => Promise<AwsCredentials>;
  readonly #clock: Clock;
  readonly #stopped = new AbortController();

  constructor(
    configuration: IotCoreTargetConfiguration,
    credentials: () => Promise<AwsCredentials>,
    clock: Clock,
  ) {
    this.remote = `${configuration.endpoint}/${configuration.topic.text}`;
    this.#configuration = configuration;
    this.#credentials = credentials;
    this.#clock = clock;
  }

  async send(batch: readonly Message[]): Promise<Failure | undefined> {
    const [message] = batch;
    if (message === undefined || isExpired(message, this.#clock.now())) return undefined;
    const failed = (error: string, isPermanent: boolean) => ({ messages: batch, error, isPermanent });
    if (message.payload.length > PAYLOAD_BYTES_MAX)
      return failed(`its payload has more than ${PAYLOAD_BYTES_MAX} bytes`, true);
    const { topic: template } = this.#configuration;
    const topic = filledByTopic(template, message.topic);
    // A publisher may choose a level of the topic, but must not choose a reserved topic of IoT Core.
    if (topic.startsWith('$') && !template.text.startsWith('$'))
      return failed(`its topic would be ${topic}`, true);
    if (topic === '.' || topic === '..')
      return failed(`its topic would be ${topic}, which no URL can name`, true);
    try {
      const response = await this.#post(message, topic);
      const text = (await response.text()).slice(0, ERROR_LENGTH_MAX);
      if (response.ok) return undefined;
      const isLater = response.status >= 500 || LATER.has(response.status);
      return failed(`answered ${response.status} ${text}`, !isLater);
    } catch (error) {
      return failed(reasonOf(error), false);
    }
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
  }

  async #post(message: Message, topic: string): Promise<Response> {
    const { region } = this.#configuration;
    const { accessKeyId, secretAccessKey, sessionToken } = await this.#credentials();
    const body = Buffer.from(message.payload);
    const signer = new AwsV4Signer({
      ...{ method: 'POST', url: this.#urlOf(message, topic), headers: headersOf(message), body },
      ...{ service: SERVICE, region, accessKeyId, secretAccessKey },
      ...(sessionToken !== undefined && { sessionToken }),
    });
    const { url, headers } = await signer.sign();
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    return await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
  }

  #urlOf({ qos, properties, expiresAtMs }: Message, topic: string): string {
    const { endpoint, retain } = this.#configuration;
    const { contentType, responseTopic } = properties;
    const query = new URLSearchParams({
      // IoT Core has no QoS 2.
      qos: String(Math.min(qos, 1)),
      retain: String(retain),
      ...(contentType !== undefined && { contentType }),
      ...(responseTopic !== undefined && { responseTopic }),
      ...(expiresAtMs !== undefined && {
        messageExpiry: String(remainingSeconds(expiresAtMs, this.#clock.now())),
      }),
    });
    return `${endpoint}/topics/${encodeURIComponent(topic)}?${query}`;
  }
}

/** Properties of MQTT 5 in the form of the Publish call. */
function headersOf({ properties }: Message): Record<string, string> {
  const { userProperties = [], correlationData, payloadFormatIndicator } = properties;
  const pairs = userProperties.map(([name, value]) => ({ [name]: value }));
  return {
    'content-type': 'application/octet-stream',
    'x-amz-mqtt5-user-properties': Buffer.from(JSON.stringify(pairs)).toString('base64'),
    ...(correlationData !== undefined && {
      'x-amz-mqtt5-correlation-data': Buffer.from(correlationData).toString('base64'),
    }),
    ...(payloadFormatIndicator === 1 && { 'x-amz-mqtt5-payload-format-indicator': 'UTF8_DATA' }),
  };
}

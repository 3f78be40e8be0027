import type { Fields } from '@apus/identity';
import { validateTopicName } from '@apus/mqtt';
import { filled, type Template } from '../../configuration/template.ts';
import { topicTemplateOf } from './topic-template.ts';

/** A topic of AWS IoT Core, by the Publish call of its data endpoint. */
export interface IotCoreTargetConfiguration {
  readonly kind: 'iotCore';
  /** The endpoint with a scheme, and without a slash at the end. */
  readonly endpoint: string;
  readonly region: string;
  readonly topic: Template;
  readonly retain: boolean;
}

export const IOT_CORE_TARGET_FIELDS = ['endpoint', 'region', 'topic', 'retain'];

const EXAMPLE = 'a1b2c3d4e5f6g7-ats.iot.eu-west-1.amazonaws.com';
const HOST = /^([A-Za-z0-9-]+\.)+[A-Za-z0-9-]+$/;
const REGION_IN_HOST = /\.iot\.([a-z0-9-]+)\.amazonaws\.com/;

/** Undefined if the endpoint does not contain the Region. */
export function iotCoreRegionOf(endpoint: string): string | undefined {
  return REGION_IN_HOST.exec(endpoint)?.[1];
}

export function readIotCoreTarget(fields: Fields, filter: string): IotCoreTargetConfiguration {
  const given = fields.requiredText('endpoint', `as ${EXAMPLE}.`);
  // A test server in place of IoT Core has a URL.
  const endpoint = HOST.test(given) ? `https://${given}` : given.replace(/\/$/, '');
  if (!/^https?:\/\/[^/?#]+$/.test(URL.canParse(endpoint) ? endpoint : ''))
    fields.fail('endpoint', `has to be as ${EXAMPLE}.`);
  const region = fields.text('region') ?? iotCoreRegionOf(endpoint);
  const text = fields.requiredText('topic', 'where the message goes, as things/{2}.');
  const topic = topicTemplateOf(fields, 'topic', text, filter);
  const invalid = validateTopicName(filled(topic, () => 'x'));
  if (invalid !== undefined) fields.fail('topic', `is no topic of MQTT. ${invalid.reason}.`);
  return {
    kind: 'iotCore',
    endpoint,
    region: region ?? fields.fail('region', 'is missing, and the endpoint does not say it.'),
    topic,
    retain: fields.flag('retain') ?? false,
  };
}

import type { Fields } from '@apus/identity';
import { countOf } from '../../configuration/numbers.ts';

/** Where the service is. The credentials are those of the process, as the AWS SDK finds them. */
export interface AwsPlace {
  /** Undefined: the Region of the process. */
  readonly region: string | undefined;
  /** Undefined: the service's own endpoint. */
  readonly endpoint: string | undefined;
}

export interface SqsConfiguration extends AwsPlace {
  readonly kind: 'sqs';
  readonly queueUrl: string;
}

export interface EventBridgeConfiguration extends AwsPlace {
  readonly kind: 'eventBridge';
  readonly bus: string;
  readonly source: string;
  readonly detailType: string;
}

export interface LambdaConfiguration extends AwsPlace {
  readonly kind: 'lambda';
  /** A function's name or ARN. */
  readonly function: string;
  /** `Event`: success means that Lambda has queued the messages. `RequestResponse`: that the function has returned. */
  readonly invocationType: 'Event' | 'RequestResponse';
  /** How long the rule waits for a function to return. */
  readonly timeoutSeconds: number;
}

export type AwsTarget = SqsConfiguration | EventBridgeConfiguration | LambdaConfiguration;

const QUEUE_URL = /^https?:\/\/[^\s/]+\/\d{12}\/[A-Za-z0-9_-]{1,80}(\.fifo)?$/;
/** The same limit as for a webhook. */
const TIMEOUT_SECONDS = 10;
const TIMEOUT_SECONDS_MAX = 60;
/** Names with this prefix are reserved by AWS. */
const RESERVED_SOURCE = /^aws\./;

export function readSqs(fields: Fields): SqsConfiguration {
  const queueUrl = fields.requiredText(
    'queueUrl',
    'as https://sqs.eu-west-1.amazonaws.com/123456789012/jobs.',
  );
  if (!QUEUE_URL.test(queueUrl))
    fields.fail('queueUrl', 'has to be as https://sqs.eu-west-1.amazonaws.com/123456789012/jobs.');
  return { kind: 'sqs', queueUrl, ...placeOf(fields) };
}

export function readEventBridge(fields: Fields): EventBridgeConfiguration {
  const source = fields.text('source') ?? 'apus';
  if (RESERVED_SOURCE.test(source)) fields.fail('source', 'must not begin with "aws.".');
  return {
    kind: 'eventBridge',
    bus: fields.text('bus') ?? 'default',
    source,
    detailType: fields.text('detailType') ?? 'MQTT message',
    ...placeOf(fields),
  };
}

export function readLambda(fields: Fields): LambdaConfiguration {
  const invocationType = fields.oneOf('invocationType', ['Event', 'RequestResponse'] as const) ?? 'Event';
  if (invocationType === 'Event' && fields.raw('timeoutSeconds') !== undefined)
    fields.fail('timeoutSeconds', 'is for "invocationType": "RequestResponse".');
  return {
    kind: 'lambda',
    function: fields.requiredText('function', 'the name or the ARN of a function.'),
    invocationType,
    timeoutSeconds: countOf(fields, 'timeoutSeconds', 1, TIMEOUT_SECONDS_MAX, TIMEOUT_SECONDS),
    ...placeOf(fields),
  };
}

function placeOf(fields: Fields): AwsPlace {
  const endpoint = fields.text('endpoint');
  if (endpoint !== undefined && !/^https?:/.test(URL.canParse(endpoint) ? endpoint : ''))
    fields.fail('endpoint', 'has to be a URL that begins with https: or http:.');
  return { region: fields.text('region'), endpoint };
}

import type { HttpOutcome, RequestSender } from '@apus/aws';
import type { ApiFunction, ApiFunctionOptions, PublishFunction } from '@apus/aws/lambda';
import { type Environment, type InProcessEmulator, startInProcess } from '@apus/emulated-aws';
import { leanClient } from '@apus/store-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Answered, Trial } from '../api/document.ts';
import { call } from './api-caller.ts';
import type { ApiParts } from './api-parts.ts';
import { emulatedAccount } from './emulated-account.ts';
import { functionsOf, logInto } from './functions.ts';
import { FAN_OUT_DEAD, TIMERS_DEAD } from './names.ts';
import type { CloudWorldOptions, World } from './options.ts';
import { startDynamoDb } from './start-cloud.ts';

/** The same deployment without sockets: with timers that a test moves, it does not depend on the machine. */
export interface InProcessWorld extends World {
  readonly emulator: InProcessEmulator;
  /** Invokes the operator's function. */
  operate(method: string, path: string, request?: Omit<Trial, 'status'>): Promise<Answered>;
  /** The operator's function, in an environment of its own, in which a ban waits for no other process. */
  operatorFunction(): ApiFunction;
  /** The function of the publish URL, with these keys, in an environment of its own. */
  publishFunction(keys: string): PublishFunction;
  /** The function of the API of operators, in an environment of its own. */
  apiFunction(access: ApiFunctionOptions['access'], parts?: ApiParts): ApiFunction;
  /** Ends the epoch of a topic of a stream, as its owner. */
  newEpoch(topic: string): Promise<void>;
  /** Bans a name; the operator's function dies when the list is written. */
  ban(username: string): Promise<void>;
  stop(): void;
}

/** Of the operator's function. */
const OPERATOR_MS = 840_000;

/** Faults of the store strike the operator's function too; the operator repeats the request. */
const ATTEMPTS_MAX = 20;

export async function startCloudInProcess(options: CloudWorldOptions): Promise<InProcessWorld> {
  const failures: string[] = [];
  const dynamoDb = await startDynamoDb(options);
  const services = {
    dynamo: (environment: Environment) => leanClient(dynamoDb.clientConfig(environment)),
    sqs: (environment: Environment) => new SQSClient(emulator.sqs.clientConfig(environment)),
    queueUrl: (name: string) => emulator.sqs.queueUrl(name),
    requests: (environment: Environment) => requestsOf(emulator, environment),
    log: logInto(failures),
  };
  const make = (environment: Environment) => functionsOf(environment, services, options);
  const emulator: InProcessEmulator = startInProcess(emulatedAccount(options, make, failures));
  const operate: InProcessWorld['operate'] = async (method, path, request) => {
    const endsAtMs = Date.now() + OPERATOR_MS;
    const operator = make(environmentOfItsOwn(emulator)).operator();
    const context = { getRemainingTimeInMillis: () => endsAtMs - Date.now() };
    return await call((event) => operator(event, context), { method, path }, request);
  };
  const operatorFunction = () => make(environmentOfItsOwn(emulator)).operator({ sleep: async () => {} });
  const publishFunction = (keys: string) => make(environmentOfItsOwn(emulator)).publish(keys);
  const apiFunction = (access: ApiFunctionOptions['access'], parts?: ApiParts) =>
    make(environmentOfItsOwn(emulator)).api(access, parts);
  const ban = async (who: string): Promise<void> => {
    const { bans } = make(environmentOfItsOwn(emulator)).cloud.stores;
    const entry = { as: 'username', who, tenant: 'default', by: '', reason: '', atMs: Date.now() } as const;
    await again(`ban ${who}`, failures, async () => await bans.add(entry));
  };
  const newEpoch = async (topic: string): Promise<void> => {
    const { streams } = make(environmentOfItsOwn(emulator)).cloud;
    await again(`end the epoch of ${topic}`, failures, async () => {
      await streams?.store.newEpoch('default', topic);
      return true;
    });
  };
  return {
    operate,
    operatorFunction,
    publishFunction,
    apiFunction,
    ban,
    newEpoch,
    url: emulator.url,
    emulator,
    dynamoDb,
    failures,
    deadLetters: () =>
      [FAN_OUT_DEAD, TIMERS_DEAD].reduce((sum, name) => sum + emulator.sqs.depth(name).available, 0),
    stop: () => emulator.stop(),
  };
}

async function again(what: string, failures: string[], act: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    try {
      if (await act()) return;
    } catch (error) {
      failures.push(`${what}: ${error}`);
    }
  }
  throw new Error(`expected to ${what}`);
}

/** It is never frozen, and its calls are not shared. */
function environmentOfItsOwn(emulator: InProcessEmulator): Environment {
  operators += 1;
  return {
    id: `operator-${operators}`,
    coldStart: 0,
    variables: { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'operator', AWS_SECRET_ACCESS_KEY: 'operator' },
    managementEndpoint: emulator.url.replace('ws:', 'http:'),
    clock: {
      now: () => Date.now(),
      setTimer(ms, fire) {
        const timer = setTimeout(fire, ms);
        return () => clearTimeout(timer);
      },
    },
    signal: new AbortController().signal,
    checkpoint: async () => {},
  };
}

let operators = 0;

/** Takes the place of the poster's sockets: the request is read, and passed on. */
export function requestsOf(emulator: InProcessEmulator, environment: Environment): RequestSender {
  return {
    async send(request): Promise<HttpOutcome> {
      const headEnd = request.indexOf('\r\n\r\n');
      const [method = '', target = ''] = request.slice(0, request.indexOf('\r\n')).split(' ');
      const body = Buffer.from(request.slice(headEnd + 4), 'latin1');
      const answer = await emulator.call(environment, { method, target, body });
      return { status: answer.status, body: answer.body.toString('latin1'), keepsAlive: true };
    },
    close() {},
  };
}

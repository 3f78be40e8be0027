import type { HttpOutcome, RequestSender } from '@apus/cloud';
import { type Environment, type InProcessEmulator, startInProcess } from '@apus/emulator';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { emulatedAccount } from './emulated-account.ts';
import { functionsOf, logInto } from './functions.ts';
import { FAN_OUT_DEAD, TIMERS_DEAD } from './names.ts';
import type { CloudWorldOptions, World } from './options.ts';
import { startDynamoDb } from './start-cloud.ts';

/** The same deployment without a socket: with timers that a test moves, nothing of it depends on the machine. */
export interface InProcessWorld extends World {
  readonly emulator: InProcessEmulator;
  stop(): void;
}

export async function startCloudInProcess(options: CloudWorldOptions): Promise<InProcessWorld> {
  const failures: string[] = [];
  const dynamoDb = await startDynamoDb(options);
  const services = {
    dynamo: (environment: Environment) => new DynamoDBClient(dynamoDb.clientConfig(environment)),
    sqs: (environment: Environment) => new SQSClient(emulator.sqs.clientConfig(environment)),
    queueUrl: (name: string) => emulator.sqs.queueUrl(name),
    requests: (environment: Environment) => requestsOf(emulator, environment),
    log: logInto(failures),
  };
  const make = (environment: Environment) => functionsOf(environment, services, options);
  const emulator: InProcessEmulator = startInProcess(emulatedAccount(options, make, failures));
  return {
    url: emulator.url,
    emulator,
    dynamoDb,
    failures,
    deadLetters: () =>
      [FAN_OUT_DEAD, TIMERS_DEAD].reduce((sum, name) => sum + emulator.sqs.depth(name).available, 0),
    stop: () => emulator.stop(),
  };
}

/** Where the poster has its sockets: the request is read, and handed over. */
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

import type { MqttClient } from 'mqtt';
import { StepFields } from '../fields.ts';
import { openClient } from '../open-client.ts';
import { UserError } from '../step-error.ts';
import type { VirtualUser } from '../virtual-user.ts';
import type { StepMaker } from './step.ts';

/** `connect: {}`; its fields override those of `config.engines.mqtt`. */
export const connect: StepMaker = (value) => {
  const fields = new StepFields('connect', value === true ? {} : value);
  const clientId = fields.text('clientId');
  const username = fields.text('username');
  const password = fields.text('password');
  const cleanStart = fields.flag('cleanStart');
  const keepAliveSeconds = fields.number('keepAliveSeconds', 0, 65_535);
  const sessionExpirySeconds = fields.number('sessionExpirySeconds', 0, 0xffff_ffff);
  fields.nothingElse();
  return async (user) => {
    const { config, recorder, events } = user.around;
    if (user.client !== undefined) throw new UserError('connected_twice', 'the client is connected already');
    const beganMicros = recorder.connectionAsked();
    const { client, statistics } = openClient(config, {
      clientId: user.fillText(clientId ?? 'artillery-{{ $uuid }}'),
      username: optionalText(user, username ?? config.username),
      password: optionalText(user, password ?? config.password),
      cleanStart: cleanStart ?? config.cleanStart,
      keepAliveSeconds: keepAliveSeconds ?? config.keepAliveSeconds,
      sessionExpirySeconds: sessionExpirySeconds ?? config.sessionExpirySeconds,
    });
    user.client = client;
    user.isLeaving = false;
    if (statistics !== undefined) user.around.countFrames(statistics);
    client.on('message', (topic, payload) => user.received(topic, payload));
    await connected(client, config.timeoutSeconds);
    const micros = recorder.connectionMade(beganMicros);
    events.emit('counter', 'mqtt.connected', 1);
    events.emit('histogram', 'mqtt.connect_ms', micros / 1_000);
    watch(user, client);
  };
};

function optionalText(user: VirtualUser, text: string | undefined): string | undefined {
  return text === undefined ? undefined : user.fillText(text);
}

function connected(client: MqttClient, timeoutSeconds: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new UserError('connect_timeout', `no CONNACK within ${timeoutSeconds} s`)),
      timeoutSeconds * 1_000,
    );
    const finish = (act: () => void): void => {
      clearTimeout(timer);
      client.off('error', failed);
      client.off('close', closed);
      act();
    };
    const failed = (error: Error): void => finish(() => reject(connectError(error)));
    const closed = (): void =>
      finish(() => reject(new UserError('connect_closed', 'the connection was closed before CONNACK')));
    client.once('connect', () => finish(resolve));
    client.once('error', failed);
    client.once('close', closed);
  });
}

function connectError(error: Error): UserError {
  const [first] = error instanceof AggregateError ? (error.errors as Error[]) : [error];
  const code = (first as { code?: unknown } | undefined)?.code;
  const name = code === undefined ? 'failed' : String(code).toLowerCase();
  return new UserError(`connect_${name}`, first?.message ?? 'the connection failed');
}

/** A connection that ends without a request is lost; its errors are counted, and the run goes on. */
function watch(user: VirtualUser, client: MqttClient): void {
  const { recorder, events, config } = user.around;
  client.on('close', () => {
    if (user.isLeaving) return;
    user.isLeaving = config.reconnectMs === 0;
    recorder.lost += 1;
    recorder.problem('a connection was lost while the test ran');
    events.emit('counter', 'mqtt.connections_lost', 1);
  });
  client.on('error', (error) => {
    if (user.isStopped) return;
    recorder.problem(error.message);
    events.emit('error', `mqtt.${(error as { code?: unknown }).code ?? 'error'}`);
  });
}

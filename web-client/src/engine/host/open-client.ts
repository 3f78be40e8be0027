import { connect, createTransport, type Statistics } from '@apus/client';
import type { IClientOptions, MqttClient } from 'mqtt';
import type { ConnectionProfile, Door, Secrets } from '../types.ts';
import { tapSocket } from '../wire/tap.ts';
import { clientOptions } from './client-options.ts';
import { withToken } from './doors.ts';
import type { HostEnvironment } from './environment.ts';
import type { WireRecorder } from './wire-recorder.ts';

export interface OpenedClient {
  readonly client: MqttClient;
  /** Gateway door: what its transport counts. */
  readonly statistics: Statistics | undefined;
}

/** Makes the mqtt.js client for a door, with a recorder on its wire. It begins to connect at once. */
export function openClient(
  { profile, secrets }: { readonly profile: ConnectionProfile; readonly secrets: Secrets },
  door: Door,
  recorder: WireRecorder,
  environment: HostEnvironment,
): OpenedClient {
  const options = clientOptions(profile, secrets);
  const opened =
    door === 'node'
      ? openAtNode(profile, secrets, options, recorder, environment)
      : openAtGateway(profile, secrets, options, recorder, environment);
  recorder.attach(opened.client);
  opened.client.handleAuth = (_packet, callback) => {
    callback(
      new Error('The server asks for another step of enhanced authentication, which a browser cannot take.'),
    );
  };
  return opened;
}

function openAtNode(
  profile: ConnectionProfile,
  secrets: Secrets,
  options: IClientOptions,
  recorder: WireRecorder,
  { mqtt, openSocket }: HostEnvironment,
): OpenedClient {
  const url = withToken(profile.url, profile.tokenParameter, secrets.token);
  const client = mqtt.connect(url, {
    ...options,
    createWebsocket: (address, subprotocols) =>
      tapSocket(openSocket(address, subprotocols), recorder.listener()),
  });
  return { client, statistics: undefined };
}

function openAtGateway(
  profile: ConnectionProfile,
  secrets: Secrets,
  options: IClientOptions,
  recorder: WireRecorder,
  { mqtt, WebSocket }: HostEnvironment,
): OpenedClient {
  const { token } = secrets;
  const { heartbeatSeconds, tokenParameter } = profile;
  const transport = createTransport({
    WebSocket,
    tokenParameter,
    ...(token === undefined || token === '' ? {} : { token: () => token }),
    ...(heartbeatSeconds === undefined ? {} : { heartbeatSeconds }),
  });
  const tapped = {
    ...transport,
    createWebsocket: (...args: Parameters<typeof transport.createWebsocket>) =>
      tapSocket(transport.createWebsocket(...args), recorder.listener()),
  };
  return { client: connect(mqtt, profile.url, options, tapped), statistics: transport.statistics };
}

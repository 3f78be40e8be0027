import type { IAuthPacket, IConnackPacket, IConnectPacket, Packet } from 'mqtt-packet';
import * as mqttPacket from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import type { TransportOptions } from '../src/index.ts';
import { Harness, publish } from './support/harness.ts';
import { tokenOf } from './support/tokens.ts';

const METHOD = 'CUSTOM-JWT';
/** Shorter than the heartbeat: its PINGREQ would want a reply. */
const LIFE_MS = 400_000;

/** The harness's random number is 0.5: half way between 75 and 90 %. */
const RENEWS_AFTER_MS = LIFE_MS * 0.825;

/** A client whose tokens live for some time from the moment of the request. */
class Client extends Harness {
  readonly tokens: string[] = [];
  /** Replaces `token()`. */
  instead: (() => string | Promise<string>) | undefined;

  constructor(options: TransportOptions = {}) {
    super({ token: () => this.#token(), ...options });
  }

  get lastToken(): string {
    return this.tokens.at(-1) ?? '';
  }

  fresh(lifeMs = LIFE_MS): string {
    const iat = this.clock.now() / 1_000;
    return tokenOf({ sub: 'ada', iat, exp: iat + lifeMs / 1_000, jti: this.tokens.length });
  }

  async accept(properties: IConnackPacket['properties'] = { authenticationMethod: METHOD }): Promise<void> {
    await this.open({}, 5);
    await this.reply([connack(0, properties)]);
    this.events.length = 0;
  }

  /** The last packet that the gateway received. */
  get lastSent(): Packet | undefined {
    const packets: Packet[] = [];
    const parser = mqttPacket.parser({ protocolVersion: this.version });
    parser.on('packet', (packet) => packets.push(packet));
    for (const frame of this.gateway.frames) for (const bytes of frame.packets) parser.parse(bytes);
    return packets.at(-1);
  }

  /** The token in the last packet; undefined if it is no AUTH with a token. */
  get shown(): string | undefined {
    const packet = this.lastSent;
    if (packet?.cmd !== 'auth' || packet.reasonCode !== 0x19) return undefined;
    expect(packet.properties?.authenticationMethod).toBe(METHOD);
    return packet.properties?.authenticationData?.toString();
  }

  get told(): string[] {
    return this.events.map((event) =>
      event.type === 'error' || event.type === 'not-renewed'
        ? `${event.type} ${event.error.code}`
        : event.type,
    );
  }

  #token(): string | Promise<string> {
    if (this.instead !== undefined) return this.instead();
    this.tokens.push(this.fresh());
    return this.lastToken;
  }
}

function connack(reasonCode: number, properties?: IConnackPacket['properties']): Packet {
  return {
    cmd: 'connack',
    reasonCode,
    returnCode: reasonCode,
    sessionPresent: false,
    ...(properties && { properties }),
  };
}

const success: IAuthPacket = {
  cmd: 'auth',
  reasonCode: 0,
  properties: { authenticationMethod: METHOD },
} as IAuthPacket;

describe('CONNECT', () => {
  const sentConnect = (client: Client): IConnectPacket => client.lastSent as IConnectPacket;

  test('names the method, beside the properties that the program has set', async () => {
    const client = new Client();
    const properties = { sessionExpiryInterval: 3_600, userProperties: { colour: 'blue' } };
    const will = { topic: 'w', payload: Buffer.from('gone'), qos: 1 as const, retain: false };
    await client.open({ properties, will, username: 'u', password: Buffer.from('p') }, 5);
    expect(sentConnect(client)).toMatchObject({ clientId: 'c', username: 'u', will });
    expect(sentConnect(client).properties).toEqual({
      ...properties,
      userProperties: expect.objectContaining(properties.userProperties),
      authenticationMethod: METHOD,
    });
  });

  test.each([
    ['the program has set one', {}, { properties: { authenticationMethod: 'SCRAM' } }, 'SCRAM'],
    ['there is no token', { token: undefined }, {}, undefined],
    ['the token never ends', { token: () => 'an-api-key' }, {}, undefined],
  ])('is left as it is where %s', async (_, options, fields, method) => {
    const client = new Client(options as TransportOptions);
    await client.open(fields, 5);
    expect(sentConnect(client).properties?.authenticationMethod).toBe(method);
  });

  test('stays unchanged if it has no room for the method', async () => {
    const client = new Client();
    await client.open({ username: 'u', password: Buffer.alloc(24_540) }, 5);
    expect(client.sent).toEqual(['connect']);
    expect(sentConnect(client).properties?.authenticationMethod).toBeUndefined();
  });

  test('stays unchanged in MQTT 3.1.1', async () => {
    const client = new Client();
    await client.open({ will: { topic: 'w', payload: Buffer.from('x'), qos: 0, retain: false } }, 4);
    expect(sentConnect(client)).toMatchObject({ clientId: 'c', protocolVersion: 4, will: { topic: 'w' } });
  });
});

describe('CONNACK', () => {
  test('reaches the library without the method, which the library has not asked for', async () => {
    const client = new Client();
    await client.accept({
      authenticationMethod: METHOD,
      authenticationData: Buffer.from('x'),
      serverKeepAlive: 300,
      assignedClientIdentifier: 'given',
    });
    expect(client.received).toMatchObject([{ cmd: 'connack', sessionPresent: false }]);
    const [packet] = client.received as IConnackPacket[];
    expect(packet?.properties).toEqual({ serverKeepAlive: 300, assignedClientIdentifier: 'given' });
  });

  test('reaches the library with the method that the program has set', async () => {
    const client = new Client();
    await client.open({ properties: { authenticationMethod: 'SCRAM' } }, 5);
    await client.reply([connack(0, { authenticationMethod: 'SCRAM' }), success]);
    expect(client.received).toMatchObject([
      { cmd: 'connack', properties: { authenticationMethod: 'SCRAM' } },
      { cmd: 'auth' },
    ]);
  });

  test('that refuses the method does not reach the library: the transport connects again without it', async () => {
    const client = new Client();
    await client.open({}, 5);
    const refused = client.gateway;
    await client.reply([connack(0x8c)]);
    expect(client.told).toEqual(['not-renewed renewal-unknown']);
    await client.clock.runDue();
    expect(client.gateway).not.toBe(refused);
    client.gateway.open();
    await client.clock.runDue();
    expect((client.lastSent as IConnectPacket).properties?.authenticationMethod).toBeUndefined();
    expect(client.tokens).toHaveLength(1);
    await client.reply([connack(0)]);
    expect(client.received).toMatchObject([{ cmd: 'connack', reasonCode: 0 }]);
    await client.clock.advance(LIFE_MS + 1_000);
    expect(client.errors).toEqual([]);
    expect(client.closes).toEqual([]);
  });

  test('that refuses a token that has just expired does not reach the library, which then asks for another token', async () => {
    const client = new Client();
    client.instead = () => client.fresh(2_000);
    await client.open({}, 5);
    await client.clock.advance(2_000);
    await client.reply([connack(0x87)]);
    expect(client.received).toEqual([]);
    expect(client.errors).toEqual(['token-expired']);
    expect(client.closes).toHaveLength(1);
  });

  test('that refuses for another reason reaches the library', async () => {
    const client = new Client();
    await client.open({}, 5);
    await client.reply([connack(0x87)]);
    expect(client.received).toMatchObject([{ cmd: 'connack', reasonCode: 0x87 }]);
  });
});

describe('a token', () => {
  test('is renewed by AUTH before it ends, again and again, unseen by the library', async () => {
    const client = new Client();
    await client.accept();
    client.received = [];
    for (let time = 0; time < 3; time += 1) {
      await client.clock.advance(RENEWS_AFTER_MS - 1);
      expect(client.tokens).toHaveLength(time + 1);
      await client.clock.advance(1);
      expect(client.shown).toBe(client.lastToken);
      await client.reply([success]);
    }
    expect(client.tokens).toHaveLength(4);
    expect(client.received).toEqual([]);
    expect(client.told).toEqual(['renewed', 'renewed', 'renewed']);
  });

  test.each([
    [0, 0.75],
    [0.999_999, 0.9],
  ])('is renewed at a random moment: %d', async (random, share) => {
    const client = new Client({ random: () => random });
    await client.accept();
    await client.clock.advance(LIFE_MS * share - 2);
    expect(client.tokens).toHaveLength(1);
    await client.clock.advance(2);
    expect(client.tokens).toHaveLength(2);
  });

  test('with a very short life is renewed at most once a second', async () => {
    const client = new Client();
    client.instead = () => {
      client.tokens.push(client.fresh(1_100));
      return client.lastToken;
    };
    await client.accept();
    await client.clock.advance(999);
    expect(client.tokens).toHaveLength(1);
    await client.clock.advance(1);
    expect(client.tokens).toHaveLength(2);
  });

  test('with a longer life than a timer can wait is not renewed at once', async () => {
    const client = new Client();
    const lifeMs = 100 * 24 * 3_600_000;
    client.instead = () => {
      client.tokens.push(client.fresh(lifeMs));
      return client.lastToken;
    };
    const waits: number[] = [];
    const { setTimeout } = client.clock;
    client.clock.setTimeout = (callback, milliseconds) => {
      waits.push(milliseconds);
      return setTimeout.call(client.clock, callback, milliseconds);
    };
    await client.accept();
    expect(Math.max(...waits)).toBe(2 ** 31 - 1);
  });

  test('waits for the outstanding reply, and leaves with the packets that wait', async () => {
    const client = new Client();
    await client.accept();
    await client.clock.advance(RENEWS_AFTER_MS - 5);
    client.gateway.texts.length = 0;
    await client.write(publish('a', 1));
    await client.clock.advance(5);
    await client.write(publish('b', 1, 2));
    expect(client.sent).toEqual(['a']);
    await client.reply([{ cmd: 'puback', messageId: 1 }]);
    expect(client.sent).toEqual(['a', 'auth b']);
    await client.reply([success, { cmd: 'puback', messageId: 2 }]);
    expect(client.received.map(({ cmd }) => cmd)).toEqual(['connack', 'puback', 'puback']);
    expect(client.told).toEqual(['renewed']);
  });

  test('may be fetched by a promise', async () => {
    const client = new Client();
    client.instead = () => Promise.resolve().then(() => client.fresh());
    await client.accept();
    await client.clock.advance(RENEWS_AFTER_MS);
    expect(client.shown).toBe(client.fresh());
  });

  test('that comes after the end of the connection is not shown', async () => {
    const client = new Client();
    await client.accept();
    let resolve: (token: string) => void = () => {};
    client.instead = () =>
      new Promise((runDue) => {
        resolve = runDue;
      });
    await client.clock.advance(RENEWS_AFTER_MS);
    client.gateway.end(1006);
    await client.clock.runDue();
    resolve(client.fresh());
    await client.clock.advance(LIFE_MS);
    expect(client.shown).toBeUndefined();
    expect(client.told).toEqual(['closed']);
  });

  test('is not sent again if its AUTH is not answered: the connection is given up, and the next one has another', async () => {
    const client = new Client();
    await client.accept();
    await client.clock.advance(RENEWS_AFTER_MS + 8_000);
    expect(client.errors).toEqual(['no-reply']);
    await client.accept();
    expect(client.tokens).toHaveLength(3);
    expect(client.gateway.url).toContain(encodeURIComponent(client.lastToken));
    expect(client.sent).toEqual(['connect']);
  });

  test('that the server did not take from its frame is shown again in the next frame', async () => {
    const client = new Client();
    await client.accept();
    await client.clock.advance(RENEWS_AFTER_MS);
    await client.reply([], { taken: 0 });
    expect(client.sent.slice(-2)).toEqual(['auth', 'auth']);
    await client.reply([success]);
    expect(client.told).toEqual(['renewed']);
  });

  test('is not sent behind DISCONNECT', async () => {
    const client = new Client();
    await client.accept();
    await client.clock.advance(RENEWS_AFTER_MS - 1);
    await client.write({ cmd: 'disconnect' });
    await client.clock.advance(1);
    expect(client.sent.at(-1)).toBe('disconnect');
  });

  test('that the server refuses ends the connection with its DISCONNECT', async () => {
    const client = new Client();
    await client.accept();
    await client.clock.advance(RENEWS_AFTER_MS);
    await client.reply([{ cmd: 'disconnect', reasonCode: 0x87 }]);
    expect(client.received.at(-1)).toMatchObject({ cmd: 'disconnect', reasonCode: 0x87 });
    expect(client.gateway.closedWith?.code).toBe(1000);
  });
});

describe('while there is no new token', () => {
  test('the client asks again, and the connection goes on with the token that comes', async () => {
    const client = new Client();
    await client.accept();
    let asked = 0;
    client.instead = () => {
      asked += 1;
      throw new Error('no network');
    };
    await client.clock.advance(RENEWS_AFTER_MS);
    expect(asked).toBe(1);
    expect(client.told).toEqual(['not-renewed no-new-token']);
    await client.clock.advance(60_000);
    expect(asked).toBe(6);
    client.instead = undefined;
    await client.clock.advance(3_000);
    expect(client.shown).toBe(client.lastToken);
    await client.reply([success]);
    expect(client.told.slice(-2)).toEqual(['not-renewed no-new-token', 'renewed']);
    await client.clock.advance(LIFE_MS / 2);
    expect(client.errors).toEqual([]);
  });

  test('but only the old one, the client does not show it again', async () => {
    const client = new Client();
    await client.accept();
    client.instead = () => client.lastToken;
    await client.clock.advance(RENEWS_AFTER_MS);
    expect(client.shown).toBeUndefined();
    expect(client.told).toEqual(['not-renewed no-new-token']);
  });

  test('the client tries for the last time shortly before the end', async () => {
    const client = new Client();
    await client.accept();
    const asked: number[] = [];
    const endsAt = client.clock.now() + LIFE_MS;
    client.instead = () => {
      asked.push(endsAt - client.clock.now());
      return client.lastToken;
    };
    await client.clock.advance(LIFE_MS - 1);
    expect(Math.min(...asked)).toBeLessThanOrEqual(2_000);
    expect(asked.length).toBeLessThan(15);
  });

  test('the connection ends with its token and gives the reason, and returns when there is a new one', async () => {
    const client = new Client();
    await client.accept();
    client.instead = () => Promise.reject(new Error('no network'));
    await client.clock.advance(LIFE_MS - 1);
    expect(client.closes).toEqual([]);
    await client.clock.advance(1);
    expect(client.errors).toEqual(['token-expired']);
    expect(client.closes).toEqual([{ code: 4_000, reason: 'token-expired' }]);
    await client.dial();
    expect(client.errors).toEqual(['token-expired', 'cannot-open']);
    client.instead = undefined;
    await client.accept();
    expect(client.gateway.url).toContain(`token=${encodeURIComponent(client.lastToken)}`);
  });

  test('the client waits for the answer to a token that it showed at the last moment', async () => {
    const client = new Client();
    await client.accept();
    client.instead = () => client.lastToken;
    await client.clock.advance(LIFE_MS - 1_500);
    client.instead = undefined;
    await client.clock.advance(1_499);
    expect(client.shown).toBe(client.lastToken);
    await client.clock.advance(1_000);
    expect(client.errors).toEqual([]);
    await client.reply([success]);
    expect(client.told.at(-1)).toBe('renewed');
  });

  test('and the computer has slept past the end, the connection ends when it wakes', async () => {
    const client = new Client();
    await client.accept();
    client.instead = () => client.lastToken;
    await client.clock.sleep(LIFE_MS + 1);
    expect(client.errors).toEqual(['token-expired']);
  });
});

describe('in MQTT 3.1.1, which has no AUTH', () => {
  const connected = async (options: TransportOptions = {}): Promise<Client> => {
    const client = new Client(options);
    await client.connect({}, 4);
    return client;
  };

  test('the next connection has the fetched token if the session cannot move', async () => {
    const client = await connected();
    await client.clock.advance(RENEWS_AFTER_MS);
    expect(client.gateway.closedWith).toBeUndefined();
    const { lastToken } = client;
    client.gateway.end(1006);
    await client.clock.runDue();
    await client.dial();
    expect(client.gateway.url).toContain(`token=${encodeURIComponent(lastToken)}`);
    expect(client.tokens).toHaveLength(2);
  });

  test('the connection ends with its token if a frame is outstanding until then', async () => {
    const client = await connected();
    client.socket.pause();
    await client.write(publish('a', 1));
    await client.reply([{ cmd: 'puback', messageId: 1 }], { more: true });
    await client.clock.advance(LIFE_MS - 1);
    expect(client.closes).toEqual([]);
    await client.clock.advance(1);
    expect(client.errors).toEqual(['token-expired']);
    await client.dial();
    expect(client.tokens).toHaveLength(2);
  });

  test('the connection ends with its token if there is no new one', async () => {
    const client = await connected();
    client.instead = () => Promise.reject(new Error('no network'));
    await client.clock.advance(LIFE_MS);
    expect(client.errors).toEqual(['token-expired']);
  });
});

test('each connection asks for a token, also after a refused handshake', async () => {
  const client = new Client();
  await client.dial();
  client.gateway.end(1006);
  await client.clock.runDue();
  await client.dial();
  expect(client.tokens).toHaveLength(2);
  expect(client.gateway.url).toContain(encodeURIComponent(client.lastToken));
});

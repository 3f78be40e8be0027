import { AwsV4Signer } from 'aws4fetch';

/** Credentials of AWS, as the SDK's providers give them. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** The service name of IoT Core's WebSocket endpoint in signatures. There, the session token is added after signing. */
const SERVICE = 'iotdevicegateway';
/** A handshake follows within seconds. */
const EXPIRES_SECONDS = 300;

/**
 * The URL of a WebSocket of AWS IoT Core with a Signature Version 4 in its query
 * (https://docs.aws.amazon.com/iot/latest/developerguide/protocols.html). mqtt.js asks for the URL at the moment of a
 * connection, and signing takes a while: so each URL is made in advance, when the previous connection has ended.
 */
export class SignedUrl {
  readonly #url: string;
  readonly #region: string;
  readonly #credentials: () => Promise<AwsCredentials>;
  #signed: string | undefined;

  constructor(url: string, region: string, credentials: () => Promise<AwsCredentials>) {
    this.#url = url;
    this.#region = region;
    this.#credentials = credentials;
  }

  /**
   * The newest URL. Before the first signature it is unsigned: IoT Core refuses it, and the next connection follows.
   */
  get current(): string {
    return this.#signed ?? this.#url;
  }

  /** Rejects if there are no credentials. */
  async refresh(): Promise<void> {
    const { accessKeyId, secretAccessKey, sessionToken } = await this.#credentials();
    const url = new URL(this.#url);
    url.searchParams.set('X-Amz-Expires', String(EXPIRES_SECONDS));
    const signer = new AwsV4Signer({
      ...{ method: 'GET', url: url.href, service: SERVICE, region: this.#region, signQuery: true },
      ...{ accessKeyId, secretAccessKey },
      ...(sessionToken !== undefined && { sessionToken }),
    });
    this.#signed = (await signer.sign()).url.href;
  }
}

import { ConfigurationError } from '../configuration-error.ts';
import { hasPlaceholder, type PlaceholderValues, parseTemplate, renderTemplate } from './placeholders.ts';

/** The request to a hook, as EMQX documents it. */
export interface RequestOptions {
  readonly method: 'get' | 'post';
  /** `http://` or `https://`; its path and its query may have placeholders. */
  readonly url: string;
  /** Values may have placeholders. @default `accept: application/json`, for POST also `content-type: application/json` */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Names and texts may have placeholders. POST sends it as JSON or as a form, GET adds it to the query.
   * @default nothing
   */
  readonly body?: BodyOptions;
}

/** Nested objects are allowed in JSON only. */
export interface BodyOptions {
  readonly [name: string]: string | number | boolean | BodyOptions;
}

export interface HookRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** The characters that HTTP allows in the value of a header, of the characters that `fetch` takes. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A part with placeholders, filled in. */
type Render<T> = (values: PlaceholderValues) => T;
type RenderPairs = Render<[name: string, value: string][]>;

/** Makes the requests of one hook. */
export class RequestTemplate {
  readonly #method: 'get' | 'post';
  readonly #origin: string;
  readonly #path: Render<string>;
  readonly #query: RenderPairs;
  readonly #headers: RenderPairs;
  readonly #body: Render<string>;

  /**
   * @param where the place in the configuration, for errors
   * @throws {ConfigurationError}
   */
  constructor(options: RequestOptions, known: readonly string[], where: string) {
    const { method, body = {} } = options;
    const url = splitUrl(options.url, `${where}.url`);
    const headers = headersOf(options, `${where}.headers`);
    const path = parseTemplate(url.path, known, `${where}.url`);
    const query = Object.fromEntries(new URLSearchParams(url.query));
    const isJson = method === 'post' && headers['content-type'] === JSON_TYPE;
    this.#method = method;
    this.#origin = url.origin;
    this.#path = (values) => renderTemplate(path, values, encodeURIComponent);
    this.#query = pairsOf(method === 'get' ? { ...query, ...body } : query, known, `${where}.url`);
    this.#headers = pairsOf(headers, known, `${where}.headers`);
    this.#body = isJson ? jsonOf(body, known, `${where}.body`) : formOf(body, known, `${where}.body`);
    if (this.render({}) === undefined)
      throw new ConfigurationError(
        `${where}.url: write the path as a browser would send it, without . and ..`,
      );
  }

  /**
   * Undefined if a value would change the request: a client identifier `..` would lead to another path, a line break in
   * a header to another header [SEC-HOOK-2].
   */
  render(values: PlaceholderValues): HookRequest | undefined {
    const path = this.#path(values);
    if (new URL(`${this.#origin}${path}`).pathname !== path) return undefined;
    const headers = this.#headers(values);
    if (!headers.every(([, value]) => HEADER_VALUE.test(value))) return undefined;
    const query = new URLSearchParams(this.#query(values)).toString();
    const isGet = this.#method === 'get';
    return {
      method: isGet ? 'GET' : 'POST',
      url: `${this.#origin}${path}${query === '' ? '' : `?${query}`}`,
      headers: Object.fromEntries(headers),
      body: isGet ? undefined : this.#body(values),
    };
  }
}

/** Parsed by hand, since a URL parser would encode `${`. */
function splitUrl(url: string, where: string): { origin: string; path: string; query: string } {
  const [, origin = '', path = '', query = ''] = /^(https?:\/\/[^/?#@]+)([^?#]*)\??([^#]*)$/i.exec(url) ?? [];
  if (!URL.canParse(origin) || hasPlaceholder(origin)) {
    throw new ConfigurationError(
      `${where} begins with http:// or https:// and a host, where no placeholder stands, and has no user and no #.`,
    );
  }
  return { origin: new URL(origin).origin, path: path === '' ? '/' : path, query };
}

function headersOf({ method, headers = {} }: RequestOptions, where: string): Record<string, string> {
  const given = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const type = given['content-type'];
  if (method === 'get' && type !== undefined)
    throw new ConfigurationError(`${where}: a GET request has no content-type.`);
  if (type !== undefined && type !== JSON_TYPE && type !== FORM_TYPE)
    throw new ConfigurationError(`${where}: content-type is ${JSON_TYPE} or ${FORM_TYPE}.`);
  return { accept: JSON_TYPE, ...(method === 'post' && { 'content-type': JSON_TYPE }), ...given };
}

function textOf(text: string, known: readonly string[], where: string): Render<string> {
  const template = parseTemplate(text, known, where);
  return (values) => renderTemplate(template, values);
}

function pairsOf(body: BodyOptions, known: readonly string[], where: string): RenderPairs {
  const pairs = Object.entries(body).map(([name, value]) => {
    if (typeof value === 'object')
      throw new ConfigurationError(`${where}.${name}: only a body of JSON has objects in it.`);
    return [textOf(name, known, where), textOf(String(value), known, `${where}.${name}`)] as const;
  });
  return (values) => pairs.map(([name, value]) => [name(values), value(values)]);
}

function formOf(body: BodyOptions, known: readonly string[], where: string): Render<string> {
  const pairs = pairsOf(body, known, where);
  return (values) => new URLSearchParams(pairs(values)).toString();
}

function jsonOf(body: BodyOptions, known: readonly string[], where: string): Render<string> {
  const render = jsonValueOf(body, known, where);
  return (values) => JSON.stringify(render(values));
}

function jsonValueOf(value: BodyOptions[string], known: readonly string[], where: string): Render<unknown> {
  if (typeof value === 'string') return textOf(value, known, where);
  if (typeof value !== 'object') return () => value;
  const entries = Object.entries(value).map(
    ([name, each]) => [textOf(name, known, where), jsonValueOf(each, known, `${where}.${name}`)] as const,
  );
  return (values) => Object.fromEntries(entries.map(([name, render]) => [name(values), render(values)]));
}

import { type Answer, answer, type Parameter, parameter } from '../operation.ts';
import { count, ref, text } from '../schema.ts';

/** Entries of a page if the request does not say otherwise, as in EMQX. */
export const LIMIT_DEFAULT = 100;

/** The most entries of a page: a few hundred kilobytes, which hardly block the event loop. */
export const LIMIT_MAX = 1_000;

export const PAGING: Readonly<Record<string, Parameter>> = {
  page: parameter('From 1.', count(undefined, { minimum: 1, maximum: 999_999_999, default: 1 }), 'node'),
  limit: parameter(
    'Entries of a page.',
    count(undefined, { minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT }),
  ),
  after: parameter('`meta.next` of the page before; not together with `page`.', text()),
};

export const CLIENT_ID: Readonly<Record<string, Parameter>> = {
  clientid: parameter('Client identifier.', text()),
};

export const notFound: Answer = answer('There is none.', ref('Problem'));

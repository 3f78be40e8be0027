import { count, flag, list, nullable, object, ref, type Schema, text } from '../schema.ts';
import { boundSchemas } from './bounds.ts';
import { clientSchemas } from './clients.ts';
import { messageSchemas } from './messages.ts';
import { observingSchemas } from './observing.ts';
import { operatorSchemas } from './operator.ts';
import { problemSchemas } from './problems.ts';
import { systemSchemas } from './systems.ts';
import { userSchemas } from './users.ts';

/** Lists that come in pages. */
const PAGED = [
  ...(['Client', 'Subscription', 'Topic', 'Ban', 'RetainedMessage', 'Member', 'DeadLetter'] as const),
  ...(['Tenant', 'User'] as const),
] as const;

/** The schemas that operations refer to. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  ...problemSchemas,
  ...clientSchemas,
  ...messageSchemas,
  ...systemSchemas,
  ...boundSchemas,
  ...operatorSchemas,
  ...userSchemas,
  ...observingSchemas,
  PageMeta: object({
    'page?': count('From 1. At a node.'),
    limit: count('Entries of a page.'),
    'count?': count('Entries of all pages. At a node.'),
    hasnext: flag('There is another page.'),
    'missing?': count('Processes of a cluster that have not answered in time. At a node.'),
    'next?': nullable(text('`after` of the next page; null on the last.')),
  }),
  ...Object.fromEntries(
    PAGED.map((name) => [`${name}Page`, object({ data: list(ref(name)), meta: ref('PageMeta') })]),
  ),
};

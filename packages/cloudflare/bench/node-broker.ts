import { startNode } from '@apus/node';

/** A node door without a directory, in a process of its own. */
const node = await startNode({ port: 0, host: '127.0.0.1' });
process.send?.(node.url);

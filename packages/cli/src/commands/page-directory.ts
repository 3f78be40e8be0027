import { fileURLToPath } from 'node:url';

/** The web client, beside the command, where the build puts it. The developers' page is in `portal` below it. */
export const PAGE = fileURLToPath(new URL('./page/', import.meta.url));

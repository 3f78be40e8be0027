import { DESTROY_HELP, destroy } from './deployment.ts';
import { main } from './main.ts';

await main((args) => destroy(args), DESTROY_HELP);

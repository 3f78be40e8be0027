import { DEPLOY_HELP, deploy } from './deployment.ts';
import { main } from './main.ts';

await main((args) => deploy(args), DEPLOY_HELP);

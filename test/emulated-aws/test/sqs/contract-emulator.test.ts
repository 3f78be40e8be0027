import { defineSqsContract } from './contract.ts';
import { startSqs } from './support.ts';

defineSqsContract(startSqs().bench);

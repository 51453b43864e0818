// Builds the client in Go of the tests into the cache, from test/tools/go-client. Runs on Node 20.
import { goTool } from '../lib/go/go-tool.mjs';

await goTool('go-client');

// Preloaded into servers that would listen to the whole world: they listen on loopback.
import net from 'node:net';

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  const done = rest.find((argument) => typeof argument === 'function');
  return listen.call(this, { port: Number(port), host: '127.0.0.1' }, done);
};

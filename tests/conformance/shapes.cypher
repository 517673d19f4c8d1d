// Texts by the features of the openCypher kit, as a user writes them for a folder: many do not begin at the run.
// Parameters: run and b, two of the three runs in the store, on one machine. All are ordered, or of one row.
// match
MATCH (n) RETURN count(n) AS n
MATCH (n:Transaction) RETURN count(n) AS n, sum(n.bytes) AS bytes
MATCH (r:Run) RETURN r.id AS id ORDER BY id
MATCH (c:Component) RETURN c.kind AS kind, count(*) AS n ORDER BY kind
MATCH (l:Link) RETURN l.kind AS kind, count(*) AS n ORDER BY kind
MATCH (c:Router) RETURN c.name AS name ORDER BY name
MATCH (a)-[x]->(b) RETURN type(x) AS type, count(*) AS n ORDER BY type
MATCH ()-[h:HOP]->() RETURN count(h) AS n, sum(h.wait_ns) AS ns
MATCH (u:Use)-[:OF]->(l:Link)<-[:OF]-(v:Use) RETURN count(*) AS n
MATCH (:Run)-[:RAN_ON]->(:Topology)<-[:RAN_ON]-(r:Run) RETURN count(*) AS n
MATCH (t:Transaction {number: 0})--(x) RETURN count(x) AS n
MATCH (r:Run {id: $run})-[*1..2]-(x) RETURN count(x) AS n
MATCH (r:Run {id: $run})-[:RAN_ON|LAUNCHED*1..3]-(x) RETURN count(x) AS n
MATCH (t:Transaction)-[:WAITED_FOR*1..2]-(o) RETURN count(*) AS n
MATCH (a:Transaction), (b:Launch) RETURN count(*) AS pairs
MATCH (t:Transaction) MATCH (t)-[:HOP]->(u) RETURN u.resource AS name, count(*) AS n ORDER BY name
MATCH (t:Transaction)-[:FROM]->(u:Use), (t)-[:TO]->(v:Use) RETURN u.resource AS u, v.resource AS v, count(*) AS n ORDER BY u, v
// match-where
MATCH (r:Run) WHERE r.id = $run RETURN r.bench AS bench
MATCH (r:Run)-[:LAUNCHED]->(l:Launch) WHERE r.id IN [$run, $b] RETURN r.id AS run, count(l) AS launches ORDER BY run
MATCH (t:Transaction) WHERE t.bytes > 64 AND NOT (t)-[:WAITED_FOR]->() RETURN count(t) AS n
MATCH (t:Transaction) WHERE (t)<-[:WAITED_FOR]-(:Transaction) RETURN count(t) AS n
MATCH (t WHERE t.number < 3)-[h:HOP WHERE h.seq = 0]->(u) RETURN t.number AS number, u.resource AS at ORDER BY number, at
MATCH (r:Run {id: $run})-[:SENT]->(t:Transaction WHERE t.number < 3) RETURN t.number AS number ORDER BY number
MATCH (c:Component) WHERE EXISTS { (c)<-[:OF]-(:Use) } RETURN count(c) AS n
MATCH (t:Transaction WHERE EXISTS { (t)-[x]->() }) RETURN count(t) AS n
// optional-match
MATCH (t:Transaction) OPTIONAL MATCH (t)-[w:WAITED_FOR]->(o:Transaction) RETURN count(t) AS n, count(w) AS waits
MATCH (r:Run {id: $run}) OPTIONAL MATCH (t:Transaction {kind: 'none'}) RETURN count(t) AS n
MATCH (m:Topology) OPTIONAL MATCH (m)<-[:RAN_ON]-(r:Run) RETURN m.name AS name, count(r) AS runs
// with
MATCH (t:Transaction) WITH t ORDER BY t.bytes DESC, t.number LIMIT 2 MATCH (t)-[:TO]->(u) RETURN t.number AS number, u.resource AS at ORDER BY number, at
MATCH (t:Transaction) WITH t.kind AS kind, count(*) AS n WHERE n > 1 RETURN kind, n ORDER BY kind
MATCH (t:Transaction) WITH max(t.t_done) AS last MATCH (l:Launch) WHERE l.t_done >= last RETURN count(l) AS n
MATCH (t:Transaction) WITH t SKIP 1 RETURN count(t) AS n
MATCH (r:Run {id: $run}) WITH 1 AS one MATCH (r:Run) RETURN one, count(r) AS n
MATCH (t:Transaction) WITH t.bytes AS load, count(*) AS call RETURN load, call ORDER BY load
// return
MATCH (t:Transaction) RETURN DISTINCT t.kind AS kind ORDER BY kind
MATCH (t:Transaction) RETURN t.number AS number ORDER BY number DESC SKIP 1 LIMIT 3
MATCH (l:Launch) RETURN l.number AS number, l ORDER BY number
MATCH p = (l:Launch)-[:DID]->(o:Op) RETURN length(p) AS steps, count(*) AS n
// union
MATCH (t:Transaction) RETURN t.kind AS kind UNION MATCH (o:Op) RETURN o.kind AS kind
MATCH (l:Launch) RETURN count(l) AS n UNION ALL MATCH (r:Run) RETURN count(r) AS n
MATCH (r:Run {id: $run}) RETURN r.bench AS name UNION MATCH (l:Launch) RETURN l.kernel AS name
// unwind
MATCH (t:Transaction) WITH collect(t) AS ts UNWIND ts AS t MATCH (t)-[:HOP]->(u) RETURN count(u) AS n
UNWIND [0, 1] AS i MATCH (t:Transaction {number: i}) RETURN i, count(t) AS n ORDER BY i
// aggregation, list, map, null
MATCH (t:Transaction) RETURN min(t.bytes) AS a, max(t.bytes) AS b, count(DISTINCT t.kind) AS kinds
MATCH (t:Transaction) WITH t ORDER BY t.number RETURN [x IN collect(t.number) WHERE x < 3 | x * 2] AS twice
MATCH (t:Transaction) WITH t ORDER BY t.number LIMIT 2 RETURN t.number AS number, t{.kind, .bytes} AS m ORDER BY number
MATCH (t:Transaction) WITH collect(t.bytes) AS xs RETURN any(x IN xs WHERE x > 64) AS some, all(x IN xs WHERE x >= 0) AS every
MATCH (x) WHERE x.kernel IS NOT NULL RETURN count(x.bytes) AS none, count(*) AS some
// pattern
MATCH (t:Transaction) RETURN sum(size([(t)-[:HOP]->(u) | u.resource])) AS n
MATCH (r:Run {id: $run})-[:LAUNCHED]->(l:Launch) RETURN l.number AS launch, size([(l)-[:DID]->(o:Op) | size([(o)-[:ON_PART]->(u) | u.resource])]) AS ops ORDER BY launch
MATCH (m:Topology) RETURN size([(m)<-[:RAN_ON]-(r:Run) | r.id]) AS runs
// existentialSubquery, countingSubgraphMatches
MATCH (r:Run {id: $run}) RETURN EXISTS { (:Run {id: $b}) } AS there
MATCH (r:Run {id: $run}) RETURN COUNT { (t:Transaction) } AS n
MATCH (l:Launch) RETURN l.number AS number, COUNT { (l)-[:DID]->(:Op) } AS ops ORDER BY number
MATCH (r:Run {id: $run}) CALL (r) { MATCH (t:Transaction) RETURN count(t) AS n } RETURN n
CALL () { MATCH (t:Transaction) RETURN t ORDER BY t.number LIMIT 1 } MATCH (t)-[:HOP]->(u) RETURN count(u) AS n
// path, quantified
MATCH (r:Run {id: $run})-[:SENT]->(t:Transaction) MATCH (t) (()-[:WAITED_FOR]->()){1,3} (x:Transaction) RETURN t.number AS waiter, x.number AS cause ORDER BY waiter, cause LIMIT 20
MATCH (t:Transaction)-[:CAUSED_BY]->{1,2}(o) RETURN count(*) AS n
MATCH (r:Run {id: $run})-[:RAN_ON]->(top:Topology)-[:CONTAINS*1..5]->(c:Component&!Router) RETURN c.kind AS kind, count(*) AS n ORDER BY kind
MATCH (r:Run {id: $run})-[:SENT]->(t:Transaction)-[e:!HOP]->(x) RETURN type(e) AS kind, count(*) AS n ORDER BY kind
MATCH (r:Run {id: $run})-[:RAN_ON]->(top:Topology), (top)-[:CONTAINS*1..5]->(a:Component {kind: 'pe_dma'}), (top)-[:CONTAINS*1..5]->(z:Component {kind: 'hbm_ctrl'}) WITH a, z ORDER BY a.name, z.name LIMIT 1 MATCH p = shortestPath((a)-[:CONNECTS*1..9]->(z)) RETURN a.name AS from, z.name AS to, length(p) AS hops
MATCH (a:Component {kind: 'pe_dma'}), (z:Component {kind: 'hbm_ctrl'}) WITH a, z ORDER BY a.name, z.name LIMIT 1 MATCH p = shortestPath((a)-[:CONNECTS*1..9]->(z)) RETURN length(p) AS hops
// triadicSelection
MATCH (a:Transaction)-[:FROM]->(u:Use)<-[:FROM]-(b:Transaction) WHERE a.number < b.number RETURN count(*) AS pairs
MATCH (t:Transaction)-[:FROM]->(u)-[:OF]->(c)<-[:OF]-(v:Use) WHERE NOT (t)-[:TO]->(v) RETURN count(*) AS n

"""The measures: pure functions; here what their names mean."""

PAGES = {
    "MCP": "the inputs nearest to every border between two classes, border by border (Shen et al., ASE 2020).",
    "CoreSet": "inputs that stand for the others, by greedy k-centre (Sener and Savarese, ICLR 2018).",
    "DeepGini": "how unsure the model is, as the chance that two draws from its answer differ.",
    "DSA": "how far an input lies from known ones of its class, compared with how near another class is (Kim et al., ICSE 2019).",
    "Entropy": "how unsure the model is, in nats.",
    "APFD": "how early an order of inputs finds the mistakes, where labels are known.",
    "NLC": "how widely a layer's units vary together over a set of inputs (Yuan et al., ICSE 2023).",
    "LSA": "how unlikely an input is among known ones of its class (Kim et al., ICSE 2019).",
    "MDSA": "how far an input lies from the middle of its class, in deviations of the class (Kim et al., FSE 2020).",
    "Margin": "how close the second class comes to the first.",
}
